// A service under load: makes many requests of every kind, with the agent or without it, and prints as JSON the agent's
// counts and the memory that the process held along the way.
//
//     SoakProgram --server URL [--mode bare|automatic|explicit] [--requests N] [--concurrency N] [--burst N]
//                 [--disturb switching|restarting|leaving]
//
// Fails when a request is not counted, or counted twice; under a disturbance some rightly go uncounted.
import Foundation
import FoundationNetworking
import Martlet

guard let options = Options(CommandLine.arguments.dropFirst()) else {
    let usage = "SoakProgram --server URL [--mode M] [--requests N] [--concurrency N] [--burst N] [--disturb D]"
    FileHandle.standardError.write(Data("usage: \(usage)\n".utf8))
    exit(64)
}

let agents = Agents(options.mode)
let load = Load(kinds: RequestKind.all(options), concurrency: options.concurrency)
var report = SoakReport()

let disturbance = options.disturbance.map { disturbance in Task { await agents.disturb(disturbance) } }
for _ in 0..<SoakReport.samples {
    report.made += await load.run(options.requests / SoakReport.samples)
    report.residentKiB.append(ResidentMemory.kibibytes)
}
report.made += await load.burst(options.burst, options: options)
disturbance?.cancel()
await disturbance?.value
report.inFlight = agents.inFlight
await agents.shutdown()
report.take(agents)

let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys]
print(String(decoding: try encoder.encode(report), as: UTF8.self))
if let complaint = report.complaint(options) {
    FileHandle.standardError.write(Data("\(complaint)\n".utf8))
    exit(1)
}
