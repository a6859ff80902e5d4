// A service as a user would write it: it starts the agent, and the rest of its code does not know the agent. It makes a
// number of requests of each kind, measures the time of each, and prints its figures as JSON. A test compares them with the
// report.
//
// With `burden` it first takes CPU time, opens files and blocks its tasks.
//
//     ProbeService <base URL> <requests of each kind> <concurrency> [burden]
import Foundation
import FoundationNetworking
import Martlet

let hasBurden = CommandLine.arguments.last == "burden"
guard CommandLine.arguments.count == (hasBurden ? 5 : 4), let base = URL(string: CommandLine.arguments[1]),
    let requests = Int(CommandLine.arguments[2]), let concurrency = Int(CommandLine.arguments[3]),
    let nobody = URL(string: "http://127.0.0.1:1/nobody")
else {
    FileHandle.standardError.write(
        Data("usage: ProbeService <base URL> <requests of each kind> <concurrency> [burden]\n".utf8))
    exit(64)
}

let agent = MartletAgent.start()
let burden = hasBurden ? await Burden.carry() : nil
let stopwatch = Stopwatch()
for kind in RequestMaker.all(base: base, nobody: nobody) {
    await stopwatch.run(kind, times: requests, concurrency: concurrency)
}
// The time is more than a busy machine needs, because a test waits for the end of the shutdown.
await agent.shutdown(within: .seconds(30))
try stopwatch.report(ledger: agent.status.ledger, burden)
