"""What a power cut leaves: whether a trace syncs what later steps rely on before they begin."""
import os

from syscalls import RENAMES, WRITES


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_of(path):
    return os.path.dirname(path) or "."


def missing_syncs(calls):
    """What is wrong with the order of a trace, a line each.

    A file is synced after its last write and before its name changes. The folder of a new name, or
    of a new folder, is synced before the same thread renames, makes, deletes or sends anything.
    Lines of metrics.jsonl that a checkpoint counts are synced before it is committed.
    """
    wrong, written, moved = [], set(), {}

    def settle(call):
        for thread, path in list(moved.items()):
            if thread == call.thread:
                wrong.append(f"{call.kind} {call.place} before the folder of {path} is synced")
                del moved[thread]

    for call in calls:
        if not call.done:
            continue
        path = call.paths[0] if call.paths else ""
        if call.name in WRITES or call.makes:
            written.add(path)
        elif call.name in ("fsync", "fdatasync"):
            written.discard(path)
            moved = {thread: at for thread, at in moved.items() if folder_of(at) != path}
        elif call.name in ("mkdir", "mkdirat"):
            settle(call)
            if not os.path.basename(path).startswith(".tmp-"):  # it has no name of its own yet
                moved[call.thread] = path
        elif call.name in ("unlink", "unlinkat", "sendmsg"):
            settle(call)
        elif call.name in RENAMES:
            settle(call)
            source, target = call.paths
            wrong += [f"{target} gets its name before {each} is synced"
                      for each in sorted(written) if below(each, source)]
            if target.endswith("/commit.json"):
                wrong += [f"{target} counts lines of {each}, which is not synced"
                          for each in written if each.endswith("metrics.jsonl")]
            written = {each for each in written if not below(each, source)}
            moved[call.thread] = target
    wrong += [f"the end comes before the folder of {path} is synced" for path in moved.values()]
    return wrong


def unneeded_syncs(calls):
    """The fsyncs that could be left out of a trace without `missing_syncs` noticing."""
    return [call for call in calls if call.name in ("fsync", "fdatasync") and call.done
            and not missing_syncs([each for each in calls if each is not call])]
