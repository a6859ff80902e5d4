// A service as a user would write it: the agent is started, and nothing else knows of it. It makes the requests of a
// script, stops the time around each, and prints what it saw as JSON for a test to compare with the report.
//
//     ProbeService <base URL> <requests of each kind> <concurrency>
import Foundation
import FoundationNetworking
import Martlet

guard CommandLine.arguments.count == 4, let base = URL(string: CommandLine.arguments[1]),
    let requests = Int(CommandLine.arguments[2]), let concurrency = Int(CommandLine.arguments[3]),
    let nobody = URL(string: "http://127.0.0.1:1/nobody")
else {
    FileHandle.standardError.write(Data("usage: ProbeService <base URL> <requests of each kind> <concurrency>\n".utf8))
    exit(64)
}

let agent = MartletAgent.start()
let stopwatch = Stopwatch()
for kind in RequestMaker.all(base: base, nobody: nobody) {
    await stopwatch.run(kind, times: requests, concurrency: concurrency)
}
// More than a busy machine needs: what a test waits for is the end of it.
await agent.shutdown(within: .seconds(30))
try stopwatch.report(ledger: agent.status.ledger)
