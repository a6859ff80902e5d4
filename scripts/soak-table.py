"""Compares the reports of two runs of SoakProgram, without the agent and with it, and judges the memory."""

import json
import sys

# Resident memory is a rough figure. Two runs have differed by 4.4 MiB, and the run without the agent was the larger one. If
# each request leaked its observation (305 bytes), a run of 200,000 requests would grow by 47 MiB after its warm-up.
MARGIN_KIB = 8192
JUDGED_FROM = 100_000
WARM_UP = 0.2

bare, agent = (json.load(open(path)) for path in sys.argv[1:3])


def growth(account):
    """Returns the growth of memory after the warm-up in KiB."""
    samples = account["residentKiB"]
    return samples[-1] - samples[int(len(samples) * WARM_UP) - 1]


def show(name, figure):
    print(f"{name:<34}{figure(bare):>12,}{figure(agent):>12,}")


print(f"{'':<34}{'bare':>12}{'agent':>12}")
show("requests made", lambda account: account["made"])
for name in ["captured", "delivered", "waiting", "dropped", "inFlight", "droppedDetails"]:
    show(name, lambda account: account[name])
for tenth in range(len(bare["residentKiB"])):
    show(f"resident KiB at {tenth + 1}0 %", lambda account: account["residentKiB"][tenth])
show("growth after the warm-up, KiB", growth)

requests = agent["made"]
surplus = growth(agent) - growth(bare)
if requests < JUDGED_FROM:
    print(f"Memory is not judged below {JUDGED_FROM:,} requests: that is warm-up.")
    sys.exit()
print(f"The agent adds {surplus:,} KiB, {surplus * 1024 / (requests * (1 - WARM_UP)):.1f} bytes a request.")
if surplus > MARGIN_KIB:
    sys.exit(f"That is more than {MARGIN_KIB:,} KiB.")
