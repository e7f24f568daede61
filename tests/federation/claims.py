"""Clients who claim as many images as they can, or who hardly move: what one of them may do to a round."""
import numpy

from federation import CLIENTS, IMAGES, Federation, report
from programs import Folder, wait_until
from updates import Update
from wire import read_kept

CLAIM = 4194304  # server.max_images


def attack_by_claiming(kindred):
    print("\na liar about its number of images\n", flush=True)
    with Folder(kindred, "claims") as folder:
        fed = Federation(folder, "l", 1, server__patience=600, server__poll=1, server__linger=5)
        fed.issue("liar")
        fed.serve()
        liar = fed.client("liar", images=CLAIM)
        fed.join()
        plan = liar.plan_of(0)
        wait_until("the honest updates", lambda: fed.accepted(0, fed.honest_names), 120)
        kept = next((folder.path / f"joined-{fed.honest_names[0]}").rglob("round-0.kept"))
        template, data, _ = read_kept(kept)
        update = Update(template, liar, plan, liar.download(0).reply)
        update.header.images, update.header.seen = CLAIM, 1
        # As far from the global model as an honest client, the other way.
        place = update.place("conv1.weight")
        honest = numpy.frombuffer(data, numpy.float32, place.bytes // 4, place.offset)
        own = numpy.frombuffer(update.data, numpy.float32, place.bytes // 4, place.offset)
        before = own.copy()
        own += before - honest
        outcome = liar.upload(update.header, bytes(update.data))
        report(4, f"an update of a client that claims {CLAIM} images", outcome.code == "OK", outcome)
        fed.finish(60)
        alarms = [line for line in fed.audit() if line["event"] == "alarm" and line.get("client") == "liar"]
        report(4, "counts as all the others together, which the audit log tells",
               len(alarms) == 1 and f"count as {CLIENTS * IMAGES}" in alarms[0]["detail"], alarms)
        liar.close()


def attack_by_standing_still(kindred):
    """Of two clients one sends the model almost as it came: what is usual must not become so little that the other is out."""
    rounds = 4
    with Folder(kindred, "still") as folder:
        fed = Federation(folder, "s", rounds, server__patience=3, server__poll=1, server__linger=5)
        fed.honest_names = fed.honest_names[:1]
        fed.issue("still")
        fed.serve()
        still = fed.client("still")
        fed.join()
        outcomes = []
        for number in range(rounds):
            plan = still.plan_of(number)
            wait_until("the honest update", lambda: fed.accepted(number, fed.honest_names), 60)
            if number == 0:
                kept = next((folder.path / f"joined-{fed.honest_names[0]}").rglob("round-0.kept"))
                template, _, _ = read_kept(kept)
            update = Update(template, still, plan, still.download(number).reply)
            place = update.place("conv1.weight")
            numpy.frombuffer(update.data, numpy.float32, place.bytes // 4, place.offset)[:1] += 1e-6
            outcomes.append(still.upload(update.header, bytes(update.data)).code)
        codes = fed.finish(60)
        refused = [line for line in fed.audit() if line["event"] == "refuse" and line.get("client") in fed.honest_names]
        report(2, f"a client that hardly moves for {rounds} rounds does not shut the other out",
               codes == [0, 0] and not refused and set(outcomes) == {"OK"}, f"{codes}, {outcomes}, {refused}")
        still.close()
