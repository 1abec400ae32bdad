# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk that loses its power: what a log of record.c leaves, as POSIX allows it.

Certain after a cut is what was synced: the bytes and the length of a file by fsync or fdatasync of
it, its mode by fsync, a name in a folder by fsync of the folder. Of everything else any part may be
there, in any order: writes whole, torn at a sector, or as zeros where only the length arrived; names
made, removed or changed, or not. A rename is there or not, never half.
"""
import hashlib
import os
import pathlib
import shutil

SECTOR, PAGE = 512, 4096


class File:
    def __init__(self, content=b"", mode=0o600):
        self.content, self.mode = content, mode
        self.pending, self.pending_mode = [], None

    def sync(self, with_mode):
        self.content, self.pending = apply(self.content, self.pending), []
        if with_mode and self.pending_mode is not None:
            self.mode, self.pending_mode = self.pending_mode, None


class Folder:
    def __init__(self, names=None, mode=0o700):
        self.names, self.mode = dict(names or {}), mode
        self.pending, self.pending_mode = [], None

    def sync(self):
        self.names, self.pending = rename(self.names, self.pending), []
        if self.pending_mode is not None:
            self.mode, self.pending_mode = self.pending_mode, None


def apply(content, changes):
    """The bytes after writes (offset, bytes) and cuts (None, length)."""
    content = bytearray(content)
    for at, what in changes:
        if at is None:
            content = content[:what] + bytes(max(0, what - len(content)))
        else:
            content += bytes(max(0, at - len(content)))
            content[at:at + len(what)] = what
    return bytes(content)


def rename(names, changes):
    """The names after (removed or None, made or None, number)."""
    names = dict(names)
    for removed, made, number in changes:
        if removed is not None:
            names.pop(removed, None)
        if made is not None:
            names[made] = number
    return names


def torn(rng, change):
    """A write of which some sectors arrived."""
    at, what = change
    if at is None or len(what) <= SECTOR:
        return change
    first = SECTOR - at % SECTOR
    edges = [0, *range(first, len(what), SECTOR), len(what)]
    low, high = sorted((rng.choice(edges), rng.choice(edges)))
    return (at + low, what[low:high])


def zeroed(change):
    """A write of which the length arrived, and not the bytes."""
    at, what = change
    return change if at is None else (at, bytes(len(what)))


class Disk:
    """The state of a folder while a log is replayed."""

    def __init__(self, root):
        self.root_path = pathlib.Path(root)
        self.root = os.stat(root).st_ino
        self.files, self.folders = {}, {}
        for path, folders, files in os.walk(root):
            here = Folder(mode=os.stat(path).st_mode & 0o7777)
            for name in folders + files:
                here.names[name] = os.lstat(os.path.join(path, name)).st_ino
            for name in files:
                one = pathlib.Path(path, name)
                self.files[one.stat().st_ino] = File(one.read_bytes(), one.stat().st_mode & 0o7777)
            self.folders[os.stat(path).st_ino] = here

    # ---- replaying ---------------------------------------------------------------------------

    def play(self, line):
        """Applies a line of the log; answers whether it changed what a cut may leave."""
        word, *rest = line.split(" ")
        return bool(getattr(self, "play_" + word)(*rest))

    def play_file(self, number, mode):
        self.files[int(number)] = File(mode=int(mode, 8))

    def play_folder(self, folder, name, number, mode):
        if int(folder) not in self.folders:
            return False
        self.folders[int(number)] = Folder(mode=int(mode, 8))
        return self.play_name(folder, name, number)

    def play_name(self, folder, name, number):
        if int(folder) not in self.folders:
            self.files.pop(int(number), None) # made elsewhere
            return False
        self.folders[int(folder)].pending.append((None, text(name), int(number)))
        return True

    def play_remove(self, folder, name):
        if int(folder) not in self.folders:
            return False
        self.folders[int(folder)].pending.append((text(name), None, None))
        return True

    def play_rename(self, folder, name, to_folder, to_name, number):
        if int(folder) not in self.folders:
            return False
        assert folder == to_folder, "a rename from folder to folder is not simulated"
        self.folders[int(folder)].pending.append((text(name), text(to_name), int(number)))
        return True

    def play_write(self, number, at, what):
        return self.change(number, (int(at), bytes.fromhex(what)))

    def play_cut(self, number, length):
        return self.change(number, (None, int(length)))

    def change(self, number, change):
        file = self.files.get(int(number))
        if file is not None:
            file.pending.append(change)
        return file is not None

    def play_mode(self, number, mode):
        one = self.files.get(int(number)) or self.folders.get(int(number))
        if one is not None:
            one.pending_mode = int(mode, 8)
        return one is not None

    def play_sync(self, number, with_mode=True):
        if int(number) in self.folders:
            self.folders[int(number)].sync()
        elif int(number) in self.files:
            self.files[int(number)].sync(with_mode)
        return int(number) in self.folders or int(number) in self.files

    def play_datasync(self, number):
        return self.play_sync(number, False)

    def play_syncall(self):
        for one in self.folders.values():
            one.sync()
        for one in self.files.values():
            one.sync(True)
        return True

    # ---- the cut -----------------------------------------------------------------------------

    def cuts(self, rng, n_random):
        """States that a cut may leave now: {path: (mode, bytes or None for a folder)}."""
        nothing, everything = lambda changes: [], list
        zeros = lambda changes: [zeroed(change) for change in changes]
        for of_bytes, of_names in ((nothing, nothing), (everything, everything),
                                   (nothing, everything), (everything, nothing),
                                   (zeros, everything)):
            yield self.tree(of_bytes, of_names, lambda: of_bytes is everything)
        for folder in self.folders.values(): # few names: every choice of them
            if 1 < len(folder.pending) <= 4:
                for choice in range(2 ** len(folder.pending)):
                    yield self.tree(everything, lambda changes: changes if changes is not
                                    folder.pending else [change for i, change in enumerate(changes)
                                                         if choice >> i & 1], lambda: True)
        for _ in range(n_random):
            yield self.tree(lambda changes: some_bytes(rng, changes),
                            lambda changes: some_names(rng, changes), lambda: rng.random() < 0.5)

    def tree(self, of_bytes, of_names, has_mode):
        found = {}
        chosen = {}

        def visit(number, path):
            if number in self.folders:
                folder = self.folders[number]
                found[path] = (mode_of(folder, has_mode()), None)
                for name, child in sorted(rename(folder.names, of_names(folder.pending)).items()):
                    visit(child, path + "/" + name)
            elif number in self.files:
                file = self.files[number]
                if number not in chosen: # a file with two names is one file
                    chosen[number] = (mode_of(file, has_mode()),
                                      apply(file.content, of_bytes(file.pending)))
                found[path] = chosen[number]

        visit(self.root, ".")
        return found

    def build(self, tree):
        """Makes the folder what a cut left."""
        for entry in self.root_path.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        for path, (mode, content) in tree.items(): # a folder comes before what is in it
            one = self.root_path / path
            if content is None:
                one.mkdir(exist_ok=True)
            else:
                one.write_bytes(content)
            one.chmod(mode)


def mode_of(one, is_new):
    return one.pending_mode if is_new and one.pending_mode is not None else one.mode


def some_names(rng, changes):
    kind = rng.randrange(3)
    if kind == 0:
        return changes[:rng.randint(0, len(changes))]
    return [change for change in changes if rng.random() < 0.5] if kind == 1 else changes


def some_bytes(rng, changes):
    kind = rng.randrange(5)
    if kind == 0:
        return changes[:rng.randint(0, len(changes))]
    if kind == 1:
        return [torn(rng, change) for change in changes if rng.random() < 0.7]
    if kind == 2:
        return [zeroed(change) if rng.random() < 0.5 else change for change in changes]
    if kind == 3: # the end arrived as a length only
        end = rng.randint(0, len(changes))
        return changes[:end] + [zeroed(change) for change in changes[end:]]
    return [change for change in changes if rng.random() < 0.5]


def text(name):
    return bytes.fromhex(name).decode()


def digest(tree):
    hash_ = hashlib.sha256()
    for path, (mode, content) in sorted(tree.items()):
        hash_.update(repr((path, mode, content is None, content and len(content))).encode())
        hash_.update(content or b"")
    return hash_.digest()
