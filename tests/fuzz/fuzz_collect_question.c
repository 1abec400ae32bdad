/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a participant receives between the rounds, and what it answers: any bytes, and any text well
 * signed; any answer is of the question or refused. */
#include <string.h>

#include "fuzz_collection.h"
#include "protocol/joint.h"
#include "protocol/lines.h"

static void answers(const cellar_question *question, const uint8_t *data, size_t size)
{
    unsigned char body[JOINT_BODY_BYTES] = {0};
    uint32_t levels[JOINT_MOST], record[2] = {0, 1};
    size_t index;
    memcpy(body, data, size < sizeof body ? size : sizeof body);
    if (answer_read(question, body, &index, levels))
        CELLAR_ASSERT(index < cellar_question_n_asked(question));
    for (size_t i = 0; i < cellar_question_n_asked(question); i++) {
        answer_write(question, i, record, body);
        CELLAR_ASSERT(answer_read(question, body, &index, levels) && index == i);
    }
}

static void parse(const fuzz_collection *c, const char *bytes, size_t length, const uint8_t *data,
                  size_t size)
{
    cellar_question *question = NULL;
    cellar_error err = {""};
    if (cellar_question_parse("fuzz", bytes, length, c->invitation, &question, &err) == CELLAR_OK)
        answers(question, data, size);
    else
        CELLAR_ASSERT(question == NULL && err.message[0] != '\0');
    cellar_question_free(question);
}

/* The session differs between runs: the bytes stand behind the lines that name it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const cellar_invitation_spec terms = {.order = 2, .common = 2};
    const fuzz_collection *c = fuzz_collection_with(&terms);
    cellar_text text = {0};

    parse(c, (const char *) data, size, data, size);
    cellar_text_add_string(&text, "cellar collect question 1\n");
    lines_add_hex(&text, "session", cellar_invitation_session(c->invitation), 32);
    cellar_text_add(&text, (const char *) data, size);
    lines_sign(&text, c->keys[1]);
    if (!text.failed)
        parse(c, text.bytes, text.length, data, size);
    cellar_text_clear(&text);
    return 0;
}
