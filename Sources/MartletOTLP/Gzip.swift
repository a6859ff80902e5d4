import CMartletZlib

/// gzip (RFC 1952) over the system's zlib, in memory.
package enum Gzip {
    package enum Failure: Error, Equatable {
        /// The bytes are not gzip, damaged or truncated, or bytes that are not gzip follow the stream.
        case malformed(String)
        /// The stream would inflate to more than `limit` bytes. Inflating stopped there.
        case tooLarge(limit: Int)
        /// zlib could not get memory.
        case outOfMemory
    }

    /// The compression level. On OTLP, level 1 of zlib is three times as fast as its default, and the output is a
    /// seventh larger.
    package static let level: Int32 = 1

    /// `MAX_WBITS` plus 16, which makes zlib use a gzip header and trailer instead of its own.
    private static let gzipWindowBits: Int32 = 15 + 16

    package static func compress(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream, level, Z_DEFLATED, gzipWindowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw .outOfMemory }
        defer { deflateEnd(&stream) }

        let bound = Int(deflateBound(&stream, UInt(bytes.count)))
        var finished = false
        let output = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            bytes.withUnsafeBufferPointer { source in
                // zlib only reads these bytes; its declaration does not say so.
                stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                stream.avail_in = uInt(clamping: source.count)
                stream.next_out = buffer.baseAddress
                stream.avail_out = uInt(clamping: buffer.count)
                finished = deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
            count = buffer.count - Int(stream.avail_out)
        }
        guard finished else { throw .outOfMemory }
        return output
    }

    /// Returns the inflated size that a stream of less than 4 GiB declares, in bytes (RFC 1952, section 2.3.1: ISIZE).
    /// `nil` if the bytes are too few for a stream, or declare more than deflate can produce: 1,032 bytes from one.
    package static func inflatedSize(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= shortestMember else { return nil }
        let size = bytes.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return size <= 1032 * bytes.count ? size : nil
    }

    /// Returns the number of bytes that a stream inflates to. A stream of one member declares it, perhaps wrongly. If there may be
    /// several members, they are inflated to count their bytes, which are not kept.
    ///
    /// - Throws: ``Failure/tooLarge(limit:)`` if there are more than `limit`.
    package static func size(of bytes: [UInt8], limit: Int) throws(Failure) -> Int {
        guard let declared = inflatedSize(of: bytes) else { throw .malformed("the body is not a gzip stream") }
        var size = 0
        if mayHaveSeveralMembers(bytes) {
            try inflate(bytes, room: 0, limit: limit) { size += $0.count }
        } else {
            size = declared
        }
        guard size <= limit else { throw .tooLarge(limit: limit) }
        return size
    }

    /// Whether another member may follow the first: the bytes with which each member begins occur again (RFC 1952, sections 2.2
    /// and 2.3.1). They may also be compressed data by chance.
    package static func mayHaveSeveralMembers(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            // The search jumps, as in Horspool's algorithm: each byte says how far away the next beginning may be.
            var last = shortestMember + 2
            while last < bytes.count {
                switch bytes[last] {
                case 0x08 where bytes[last - 1] == 0x8b && bytes[last - 2] == 0x1f: return true
                case 0x8b: last += 1
                case 0x1f: last += 2
                default: last += 3
                }
            }
            return false
        }
    }

    /// Bytes of the header and the trailer of a member.
    private static let shortestMember = 18

    /// Inflates a gzip stream of one or more members. Never holds more than `limit` bytes of output, even if the stream declares
    /// more.
    package static func decompress(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var output: [UInt8] = []
        try inflate(bytes, room: min(inflatedSize(of: bytes) ?? 0, limit), limit: limit) { chunk in
            if output.isEmpty { output = chunk } else { output += chunk }
        }
        return output
    }

    /// Inflates a stream, and passes its bytes to `take`.
    ///
    /// - Parameter room: see ``inflateAtOnce(_:room:_:)``.
    private static func inflate(
        _ bytes: [UInt8], room: Int, limit: Int, take: ([UInt8]) -> Void
    ) throws(Failure) {
        var stream = z_stream()
        guard inflateInit2_(&stream, gzipWindowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .outOfMemory
        }
        defer { inflateEnd(&stream) }

        var failure: Failure?
        bytes.withUnsafeBufferPointer { source in
            // zlib only reads these bytes; its declaration does not say so.
            stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            stream.avail_in = uInt(clamping: source.count)
            var result = Z_OK
            let first = inflateAtOnce(&stream, room: room, &result)
            take(first)
            failure = inflateRest(&stream, after: first.count, limit: limit, result, take)
        }
        if let failure { throw failure }
    }

    /// Returns the CRC-32 of uncompressed bytes, as in a gzip trailer (RFC 1952, section 8).
    package static func crc32(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { source in
            UInt32(truncatingIfNeeded: crc32_z(0, source.bindMemory(to: UInt8.self).baseAddress, source.count))
        }
    }

    /// Inflates up to `room` bytes in one call. If the stream is as long as it declares, it ends here, and zlib needs
    /// no window in addition to the output.
    private static func inflateAtOnce(_ stream: inout z_stream, room: Int, _ result: inout Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: max(room, 1)) { buffer, count in
            stream.next_out = buffer.baseAddress
            stream.avail_out = uInt(clamping: room)
            result = CMartletZlib.inflate(&stream, Z_FINISH)
            count = room - Int(stream.avail_out)
        }
    }

    /// Inflates the rest of the stream, after a call that returned `result` and `taken` bytes.
    private static func inflateRest(
        _ stream: inout z_stream, after taken: Int, limit: Int, _ result: Int32, _ take: ([UInt8]) -> Void
    ) -> Failure? {
        let chunkSize = 64 * 1024
        var (result, taken) = (result, taken)
        while result != Z_STREAM_END || stream.avail_in > 0 {
            // Another member follows.
            if result == Z_STREAM_END { inflateReset(&stream) }
            let before = stream.avail_in
            let chunk = [UInt8](unsafeUninitializedCapacity: chunkSize) { buffer, count in
                stream.next_out = buffer.baseAddress
                stream.avail_out = uInt(buffer.count)
                result = CMartletZlib.inflate(&stream, Z_NO_FLUSH)
                count = buffer.count - Int(stream.avail_out)
            }
            guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else {
                return result == Z_MEM_ERROR ? .outOfMemory : .malformed("the gzip stream is damaged")
            }
            taken += chunk.count
            guard taken <= limit else { return .tooLarge(limit: limit) }
            take(chunk)
            if result != Z_STREAM_END, chunk.isEmpty, stream.avail_in == before {
                return .malformed("the gzip stream ends early")
            }
        }
        return nil
    }
}
