// A service in small that does with `URLSession` what a service can do, cell by cell, and prints everything that it saw
// and that its server received as JSON. Whether the agent is in it, and how, must make no difference.
//
//     ParityProgram list
//     ParityProgram bare|automatic|explicit [part of a cell's name]
import Foundation
import FoundationNetworking
import Martlet

struct Output: Encodable {
    struct Seen: Encodable {
        let name: String
        /// Nanoseconds since 1970: the requests that begin from then on, and before the next cell, are the cell's.
        let began: UInt64
        let saw: [String]
        let received: [PeerServer.Received]
        /// Requests that the agent captured.
        let captured: UInt64
    }

    /// The agent's own word for how it captures; `nil` without one.
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
    // Whatever hangs ends here, and standard error says in which cell.
    alarm(280)
    let agent = mode.start()
    let server = try PeerServer()
    var output = Output(captureMode: agent?.status.captureMode.rawValue)
    for cell in Cell.all where arguments.count < 2 || cell.name.contains(arguments.last ?? "") {
        // Where it ended, should Foundation end the process.
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
