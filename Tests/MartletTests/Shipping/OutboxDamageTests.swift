import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

/// Files changed by a disk or a person: nothing traps, nothing loops, intact files are kept, and every stored request
/// is delivered, dropped or waiting.
@Suite struct OutboxDamageTests {
    @Test func truncatedBatchIsCountedAsCorrupt() throws {
        let body = Array("a body that is posted".utf8)
        for length in 0..<body.count {
            let scene = try Scene()
            try scene.open { outbox in
                try outbox.store(body, as: Scene.file(1, requests: 7, body))
                try outbox.store(body, as: Scene.file(2, requests: 5, body))
            }
            try Data(body.prefix(length)).write(to: scene.url(Scene.file(1, requests: 7, body).name))
            try scene.open { outbox in
                let (delivered, ledger) = Self.deliverAll(of: &outbox)
                #expect(delivered == [2])
                #expect(ledger == .init(captured: 12, delivered: 5, dropped: [.corrupt: 7]))
            }
        }
    }

    @Test func truncatedAccountLosesNoWaitingRequest() throws {
        let body: [UInt8] = [1]
        var length = 0
        var isCutOff = true
        while isCutOff {
            let scene = try Scene()
            try scene.open { outbox in
                for sequence in 1...3 as ClosedRange<UInt64> {
                    try outbox.store(body, as: Scene.file(sequence, requests: 7, body))
                }
                outbox.settle(Scene.file(1, requests: 7, body), as: .delivered(rejected: 2))
            }
            let account = try Data(contentsOf: scene.url("account"))
            isCutOff = length < account.count
            try account.prefix(length).write(to: scene.url("account"))
            try scene.open { outbox in
                let (delivered, ledger) = Self.deliverAll(of: &outbox)
                #expect(delivered == [2, 3])
                let before = isCutOff ? Ledger() : Ledger(delivered: 5, dropped: [.rejected: 2])
                #expect(ledger.delivered == before.delivered + 14)
                #expect(ledger.dropped == before.dropped)
            }
            length += 7
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func ledgerIsCompleteAfterAnyDamage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scene = try Scene()
        try scene.fill(&random)
        for _ in 0..<Int.random(in: 1...4, using: &random) { try scene.damage(&random) }
        try scene.open { outbox in
            // The requests according to names and account: a damaged file still counts for its requests.
            let captured = outbox.ledger(unsealed: 0).captured
            for _ in 0..<3 {
                let batches = outbox.batches() ?? []
                #expect(Set(batches.map(\.file.name)).count == batches.count)
                for batch in batches { try Self.step(batch.file, in: &outbox, &random) }
                #expect(outbox.ledger(unsealed: 0).captured == captured, "seed \(seed)")
            }
            let (_, ledger) = Self.deliverAll(of: &outbox)
            #expect(ledger.captured == captured, "seed \(seed)")
            #expect(ledger.waiting == outbox.waiting)
        }
        try scene.open { outbox in
            let left = outbox.batches()?.count
            #expect(left == 0, "seed \(seed)")
        }
    }

    // MARK: -

    /// Does a random operation of shipping to a batch.
    private static func step(_ file: BatchFile, in outbox: inout Outbox, _ random: inout SeededGenerator) throws {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: _ = outbox.read(file)
        case 1: _ = outbox.mark(file, at: nil)
        case 2: outbox.settle(file, as: .delivered(rejected: .random(in: 0...20, using: &random)))
        case 3: outbox.settle(file, as: .dropped(.bufferFull))
        case 4:
            guard file.part.count < BatchID.maxPartLength, !file.mayHaveArrived else { return }
            let parts = [(0, file.requests / 2), (1, file.requests - file.requests / 2)].map { digit, requests in
                BatchFile(
                    sequence: file.sequence, first: file.first, part: "\(file.part)\(digit)", signal: file.signal,
                    requests: requests, isCompressed: false, body: [1])
            }
            try outbox.replace(file, with: parts.map { EncodedBatch(file: $0, body: [1]) })
        default: break
        }
    }

    private static func deliverAll(of outbox: inout Outbox) -> (sequences: [UInt64], ledger: Ledger) {
        var delivered: [UInt64] = []
        for batch in outbox.batches() ?? [] {
            guard outbox.read(batch.file) != nil, let file = outbox.mark(batch.file, at: nil) else { continue }
            delivered.append(file.sequence)
            outbox.settle(file, as: .delivered(rejected: 0))
        }
        return (delivered, outbox.ledger(unsealed: 0))
    }
}

/// The directory of a dead instance.
private struct Scene {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    func open(_ body: (inout Outbox) throws -> Void) throws {
        var outbox = try Outbox.create(instance: "a", in: temporary.url)
        try body(&outbox)
    }

    func url(_ name: String) -> URL { temporary.url.appendingPathComponent("a/\(name)") }

    static func file(_ sequence: UInt64, requests: UInt64, _ body: [UInt8]) -> BatchFile {
        BatchFile(sequence: sequence, signal: .metrics, requests: requests, isCompressed: false, body: body)
    }

    /// Stores batches, some sent, merged or divided, with leftovers, and an account.
    func fill(_ random: inout SeededGenerator) throws {
        try open { outbox in
            for sequence in 1...UInt64.random(in: 2...12, using: &random) {
                let body = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                var file = Self.file(sequence, requests: .random(in: 0...50, using: &random), body)
                if Bool.random(using: &random) { file.signal = .traces; file.requests = 0 }
                file.mayHaveArrived = Int.random(in: 0..<4, using: &random) == 0
                try outbox.store(body, as: file)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: outbox.settle(file, as: .delivered(rejected: 1))
                case 1 where sequence > 2:
                    let merged = BatchFile(
                        sequence: sequence, first: sequence - 1, signal: .metrics, requests: 30, isCompressed: false,
                        body: body)
                    try outbox.store(body, as: merged)
                case 2:
                    let part = BatchFile(
                        sequence: sequence, part: "0", signal: file.signal, requests: file.requests / 2,
                        isCompressed: false, body: body)
                    try outbox.store(body, as: part)
                default: break
                }
            }
        }
    }

    func damage(_ random: inout SeededGenerator) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: url("").path).sorted()
        guard let name = names.randomElement(using: &random), name != "quarantine" else { return }
        var bytes = try Data(contentsOf: url(name))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: try bytes.prefix(.random(in: 0...bytes.count, using: &random)).write(to: url(name))
        case 1 where !bytes.isEmpty:
            bytes[.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try bytes.write(to: url(name))
        case 2:
            var mangled = Array(name.utf8)
            mangled[.random(in: 0..<mangled.count, using: &random)] = .random(in: 0x2b...0x7a, using: &random)
            let target = String(decoding: mangled, as: UTF8.self).replacingOccurrences(of: "/", with: "-")
            if target.contains("\0") || FileManager.default.fileExists(atPath: url(target).path) { return }
            try FileManager.default.moveItem(at: url(name), to: url(target))
        case 3: try (bytes + [0]).write(to: url(name))
        default: try FileManager.default.copyItem(at: url(name), to: url("copy of \(name)-\(random.next())"))
        }
    }
}
