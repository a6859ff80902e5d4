import CMartletZlib
import Foundation

/// Bytes as they are told in a transcript: all of a short text, of anything longer its size and checksum.
struct Bytes: CustomStringConvertible {
    private static let shown = 200
    private var start = Data()
    private var count = 0
    private var checksum = crc32(0, nil, 0)

    init(_ data: Data = Data()) { append(data) }

    mutating func append(_ data: Data) {
        start.append(data.prefix(Self.shown - start.count))
        count += data.count
        checksum = data.withUnsafeBytes { bytes in
            crc32(checksum, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(bytes.count))
        }
    }

    var description: String {
        count > Self.shown
            ? "\(count) bytes, crc32 \(checksum)" : String(reflecting: String(decoding: start, as: UTF8.self))
    }
}
