import Foundation
import ParityTrust
import Synchronization

/// `server.py` as a child process; it ends with the program.
final class PeerServer: Sendable {
    enum Role: String, CaseIterable {
        case http, http2, tls, untrusted, proxy, ftp
        /// A proxy that asks every client for credentials.
        case guarded
        /// A server over TLS that asks every client for a certificate.
        case certified
        /// A port that refuses connections.
        case nobody
    }

    /// A request as the server received it.
    struct Received: Codable {
        let connection: Int
        let role: String
        let head: [String]
        let body: String
    }

    private struct Announcement: Decodable {
        let ports: [String: Int]
        let authority: String
    }

    private let ports: [String: Int]
    private let process: Mutex<Process>
    private let input = Pipe()
    private let output = Pipe()

    init() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-u", Self.script]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = Mutex(process)
        let line = Self.readLine(output)
        let announcement = try JSONDecoder().decode(Announcement.self, from: line)
        ports = announcement.ports
        parity_trust(announcement.authority)
    }

    func authority(of role: Role) -> String { "127.0.0.1:\(ports[role.rawValue] ?? 0)" }

    /// Returns the requests since the last call, and releases answers that wait.
    func take() throws -> [Received] {
        input.fileHandleForWriting.write(Data("take\n".utf8))
        return try JSONDecoder().decode([Received].self, from: Self.readLine(output))
    }

    /// Returns when a request has arrived; the server may not have answered any part of it yet.
    func awaitRequest() {
        input.fileHandleForWriting.write(Data("await\n".utf8))
        _ = Self.readLine(output)
    }

    /// Releases answers that wait.
    func go() { input.fileHandleForWriting.write(Data("go\n".utf8)) }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.withLock { $0.waitUntilExit() }
    }

    /// Returns a text that is the same in every run: names replace ports, times and the date in nginx's answers.
    func normalized(_ text: String) -> String {
        let named = ports.reduce(text) { text, port in
            text.replacing("127.0.0.1:\(port.value)", with: "127.0.0.1:{\(port.key)}")
                .replacing("127.0.0.1 port \(port.value)", with: "127.0.0.1 port {\(port.key)}")
        }
        return named.replacing(/after [0-9]+ (ms|milliseconds)/) { "after {n} \($0.output.1)" }
            .replacing(/Date: [^"]+ GMT/, with: "Date: {now}")
            .replacing(/Sec-WebSocket-Key: [^"]+/, with: "Sec-WebSocket-Key: {random}")
            // Foundation 6.2 sends cookies in an order of its own.
            .replacing(/Cookie: ([^"]+)/) {
                "Cookie: " + $0.output.1.split(separator: "; ").sorted().joined(separator: "; ")
            }
    }

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("server.py").path

    private static func readLine(_ pipe: Pipe) -> Data {
        var line = Data()
        while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        return line
    }
}
