import Foundation

/// A TCP connection on loopback, for blocking use by one thread. Any thread may call ``shutDown()``.
package struct Connection: Sendable {
    private let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to a port; `nil` if no process listens there.
    package init?(port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let isConnected = Loopback.withAddress(port: port) { connect(descriptor, $0, $1) == 0 }
        if !isConnected {
            Foundation.close(descriptor)
            return nil
        }
    }

    /// Waits for bytes and returns at least one. Returns none at the end of the connection or after an error.
    package func read() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = max(0, Loopback.repeatedly { recv(descriptor, buffer.baseAddress, buffer.count, 0) })
        }
    }

    package func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        while case let part = read(), !part.isEmpty { bytes += part }
        return bytes
    }

    /// Writes all bytes. Stops without an error when the peer is gone.
    package func write(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { bytes in
                Loopback.repeatedly { send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    package func close() { Foundation.close(descriptor) }

    /// Closes the connection with RST, so that the peer sees a reset.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    /// Ends a call in which another thread waits on this connection.
    package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
