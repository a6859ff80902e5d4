import Foundation

/// A server that waits until `count` requests have come, each over a separate connection, and then answers all of them.
/// All of them are in flight at once.
struct Gathering: Sendable {
    let url: URL

    /// Listens, answers on a separate thread, then closes. `nil` if the port cannot be opened.
    init?(of count: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, Int32(clamping: count)) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isListening, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/gathering")
        else { return nil }
        self.url = url
        Thread.detachNewThread {
            let connections = (0..<count).map { _ in accept(listener, nil, nil) }
            for connection in connections { Self.answer(connection) }
            close(listener)
        }
    }

    /// Answers one request. A single read takes the whole of a GET. A client that left does not end the process.
    private static func answer(_ connection: Int32) {
        var request = [UInt8](repeating: 0, count: 64 << 10)
        _ = read(connection, &request, request.count)
        let answer = Array("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".utf8)
        _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
        close(connection)
    }
}
