import Foundation
import Synchronization

/// The least cost of any recording: reserve, copy 128 bytes, release.
final class Floor: Contender, @unchecked Sendable {
    let name = "reserve, copy 128 bytes, release"
    private let head = Atomic<Int>(0)
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: 4 << 20, alignment: 4096)
    private let record = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 16)

    init() {
        memory.initializeMemory(as: UInt8.self, repeating: 1, count: 4 << 20)
        record.initializeMemory(as: UInt8.self, repeating: 2, count: 128)
    }

    func prepare() { head.store(0, ordering: .relaxed) }

    func run(_ operations: Int) {
        for _ in 0..<operations {
            let place = memory + (head.wrappingAdd(128, ordering: .relaxed).oldValue & (4 << 20 - 1) & ~127)
            (place + 8).copyMemory(from: record + 8, byteCount: 120)
            place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(1, ordering: .releasing)
        }
    }
}
