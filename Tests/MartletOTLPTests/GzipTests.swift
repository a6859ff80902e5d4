import MartletOTLP
import Testing

@Suite struct GzipTests {
    static let text = Array(String(repeating: "a martlet never lands; ", count: 500).utf8)

    @Test(arguments: [[], [7], text])
    func compressedBytesInflateToTheOriginal(bytes: [UInt8]) throws {
        let compressed = try Gzip.compress(bytes)
        #expect(Array(compressed.prefix(2)) == [0x1f, 0x8b])  // RFC 1952, section 2.3.1
        #expect(try Gzip.decompress(compressed, limit: 100_000) == bytes)
    }

    @Test func truncatedStreamIsRefusedAtEveryLength() throws {
        let compressed = try Gzip.compress(Self.text)
        for length in 0..<compressed.count {
            #expect(throws: Gzip.Failure.self) { try Gzip.decompress(Array(compressed[..<length]), limit: 100_000) }
        }
    }

    @Test func flippedBitInTheTrailerIsRefused() throws {
        var compressed = try Gzip.compress(Self.text)
        compressed[compressed.count - 5] ^= 1
        #expect(throws: Gzip.Failure.self) { try Gzip.decompress(compressed, limit: 100_000) }
    }

    @Test func checksumMatchesTheStandard() {
        #expect(Gzip.crc32(Array("123456789".utf8)) == 0xcbf4_3926)  // ITU-T V.42's check value
        #expect(Gzip.crc32([]) == 0)
    }

    @Test func inflatingStopsAtTheLimit() throws {
        let bomb = try Gzip.compress([UInt8](repeating: 0, count: 10_000_000))
        #expect(bomb.count < 60_000)
        #expect(throws: Gzip.Failure.tooLarge(limit: 100_000)) { try Gzip.decompress(bomb, limit: 100_000) }
    }

    @Test func exactlyTheLimitIsAllowed() throws {
        let compressed = try Gzip.compress(Self.text)
        #expect(try Gzip.decompress(compressed, limit: Self.text.count) == Self.text)
        #expect(throws: Gzip.Failure.self) { try Gzip.decompress(compressed, limit: Self.text.count - 1) }
    }

    /// RFC 1952, section 2.2.
    @Test(arguments: [[text, text], [text, []], [[], text], [[], [], text, [], [7]], [[], []]] as [[[UInt8]]])
    func membersInflateToTheirConcatenation(members: [[UInt8]]) throws {
        let stream = try members.flatMap { try Gzip.compress($0) }
        let whole = members.flatMap(\.self)
        #expect(Gzip.mayHaveSeveralMembers(stream))
        #expect(try Gzip.size(of: stream, limit: whole.count) == whole.count)
        #expect(try Gzip.decompress(stream, limit: whole.count) == whole)
        guard !whole.isEmpty else { return }
        #expect(throws: Gzip.Failure.tooLarge(limit: whole.count - 1)) {
            try Gzip.size(of: stream, limit: whole.count - 1)
        }
        #expect(throws: Gzip.Failure.self) { try Gzip.decompress(stream, limit: whole.count - 1) }
        #expect(throws: Gzip.Failure.self) { try Gzip.size(of: stream.dropLast(1) + [], limit: whole.count) }
    }

    @Test func bytesAfterTheStreamAreRefused() throws {
        #expect(throws: Gzip.Failure.self) { try Gzip.decompress(Gzip.compress(Self.text) + [0], limit: 100_000) }
    }
}
