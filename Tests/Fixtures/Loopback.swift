import Foundation

/// The address `127.0.0.1` for the socket calls.
package enum Loopback {
    static func withAddress<Value>(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout.size(ofValue: address))
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }

    /// Opens a listener on a free port.
    package static func listen() throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(port: 0, { bind(descriptor, $0, $1) == 0 }), Foundation.listen(descriptor, 64) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout.size(ofValue: address))
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return (descriptor, Int(in_port_t(bigEndian: address.sin_port)))
    }

    /// Waits for a connection; `nil` once the listener is shut down.
    package static func accept(from listener: Int32) -> Connection? {
        let descriptor = repeatedly { Foundation.accept(listener, nil, nil) }
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return Connection(descriptor: descriptor)
    }

    /// Repeats a call when the end of a child process interrupts it (EINTR).
    static func repeatedly<Value: SignedInteger>(_ call: () -> Value) -> Value {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
