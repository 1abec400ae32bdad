/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a curator and an analyst receive at their desks: every request is answered, and nobody but
 * the shuffler delivers anything. */
#include <string.h>

#include "fuzz_collection.h"
#include "protocol/desk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_collection *c = fuzz_collection_open();
    static const unsigned char binding[CHANNEL_BINDING_BYTES];
    unsigned char request[DESK_FRAME_BYTES] = {0}, answer[DESK_FRAME_BYTES];
    const service_sender sender = {1, binding};
    desk d = {
        .folder = "/nonexistent", .invitation = c->invitation, .role = CELLAR_COLLECT_CURATOR};
    desk_frame frame;

    memcpy(request, data, size < sizeof request ? size : sizeof request);
    if (desk_read(request, &frame)) { /* one text for one meaning */
        desk_write(&frame, answer);
        CELLAR_ASSERT(memcmp(request, answer, sizeof answer) == 0);
    }
    CELLAR_ASSERT(desk_take(&d, &sender, request, answer, NULL) == CELLAR_OK);
    CELLAR_ASSERT(desk_read(answer, &frame));
    CELLAR_ASSERT(frame.kind == DESK_REFUSED || frame.kind == DESK_NOT_YET);
    CELLAR_ASSERT(!d.is_open);
    return 0;
}
