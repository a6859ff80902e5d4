// A service for the fault tests. It starts the agent, makes requests and notes the end of each at once in a file, so that
// a test knows of it even when the process is killed. A process that ends by itself prints the agent's report as JSON.
//
//     FaultProgram --server URL --life NAME --ended FOLDER [--workers N] [--requests N] [--die MILESTONE:N]
//                  [--end HOW] [--in PLACE] [--flushes N] [--within SECONDS] [--lifecycle]
import Foundation
import Martlet

guard let options = Options(CommandLine.arguments.dropFirst()) else {
    FileHandle.standardError.write(Data("FaultProgram: the arguments are not understood\n".utf8))
    exit(64)
}

options.death?.arm()
let closing = ClosedDescriptors.closeOnSignal(
    below: ProcessInfo.processInfo.environment["MARTLET_BUFFER_DIR"] ?? "/")
let agent = MartletAgent.start()
let load = try Load(options)
agent.awaitJournal()
if options.isLifecycle {
    try await Lifecycle.run(agent, load, lingers: options.ending == .lingered)
} else {
    // Before its first `await`, the program runs on the process's main thread.
    if options.requests > 0 { await load.run(options.requests) }
    options.ending?.happen(agent, in: options.place)
}
if !options.isLifecycle, options.ending == nil {
    await agent.flush(upTo: options.flushes)
    let start = ContinuousClock.now
    await agent.shutdown(within: .seconds(options.within))
    try AgentReport(agent.status.ledger, shutdown: ContinuousClock.now - start).print()
}
closing.cancel()
guard ClosedDescriptors.missing.isEmpty else {
    FileHandle.standardError.write(
        Data("FaultProgram: \(ClosedDescriptors.missing) are not its own any more\n".utf8))
    exit(70)
}
