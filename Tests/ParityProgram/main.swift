// A small service that uses `URLSession` in every way that a service can, cell by cell, and prints as JSON everything
// that it saw and that its server received. The agent must make no difference in any mode.
//
//     ParityProgram list
//     ParityProgram bare|automatic|explicit [part of a cell's name]
import Foundation
import FoundationNetworking
import Martlet

struct Output: Encodable {
    struct Seen: Encodable {
        let name: String
        /// Nanoseconds since 1970. The requests that begin from then on, and before the next cell, belong to the cell.
        let began: UInt64
        let saw: [String]
        let received: [PeerServer.Received]
        /// The number of requests that the agent captured.
        let captured: UInt64
    }

    /// The capture mode in the agent's status; `nil` without an agent.
    let captureMode: String?
    var cells: [Seen] = []
}

func run(_ cell: Cell, mode: Mode, server: PeerServer, agent: MartletAgent?) async throws -> Output.Seen {
    let (began, before) = (UInt64(Date().timeIntervalSince1970 * 1e9), agent?.status.ledger.captured ?? 0)
    let stage = Stage(mode: mode, server: server)
    do {
        try await cell.run(stage)
    } catch {
        stage.transcript.note("the cell failed", Described.error(error))
    }
    await stage.close()
    let saw = stage.transcript.lines.map(server.normalized)
    let received = try server.take().map { received in
        PeerServer.Received(
            connection: cell.isUnordered ? 0 : received.connection, role: received.role,
            head: received.head.map(server.normalized), body: received.body)
    }
    let captured = (agent?.status.ledger.captured ?? 0) - before
    guard cell.isUnordered else {
        return Output.Seen(name: cell.name, began: began, saw: saw, received: received, captured: captured)
    }
    return Output.Seen(
        name: cell.name, began: began, saw: saw.sorted(), received: received.sorted { "\($0)" < "\($1)" },
        captured: captured)
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "list" {
    print(String(decoding: try JSONEncoder().encode(Cell.all.map { $0.name }), as: UTF8.self))
} else if let mode = arguments.first.flatMap(Mode.init(rawValue:)) {
    // A cell that hangs ends here, and standard error has its name.
    alarm(280)
    let server = try PeerServer()
    let agent = mode.start(with: server.rules)
    var output = Output(captureMode: agent?.status.captureMode.rawValue)
    for cell in Cell.all where arguments.count < 2 || cell.name.contains(arguments.last ?? "") {
        // If Foundation ends the process, this name says in which cell.
        FileHandle.standardError.write(Data("\(cell.name)\n".utf8))
        output.cells.append(try await run(cell, mode: mode, server: server, agent: agent))
    }
    server.stop()
    await agent?.shutdown(within: .seconds(20))
    print(String(decoding: try JSONEncoder().encode(output), as: UTF8.self))
} else {
    FileHandle.standardError.write(Data("usage: ParityProgram list|bare|automatic|explicit [part of a name]\n".utf8))
    exit(64)
}
