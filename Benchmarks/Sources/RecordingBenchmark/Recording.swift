import Foundation
import Synchronization

@testable import Martlet
@testable import MartletTelemetry

/// The recorder with its journal on disk. An interval ends between two rounds, so segments are reused.
final class Recording: Contender {
    let name = "Martlet: a request, into the journal"
    private let recorder = Recorder(MartletConfiguration())
    private let keeper: Mutex<Keeper>
    private let user = Atomic<Int>(4711)

    private struct Keeper: ~Copyable {
        var keeper: JournalKeeper
    }

    init(in folder: URL) throws {
        keeper = Mutex(Keeper(keeper: JournalKeeper(recorder.journal)))
        keeper.withLock { $0.keeper.move(to: folder) }
    }

    func prepare() {
        keeper.withLock { keeper in
            _ = recorder.closeSegments { keeper.keeper.close() }
            for lane in keeper.keeper.closedLanes() ?? [] { recorder.fold(lane) }
            _ = recorder.drain()
            keeper.keeper.recycle()
        }
    }

    func run(_ operations: Int) {
        // Each thread makes its own text, as requests do, so threads do not share its reference count.
        let user = user.load(ordering: .relaxed)
        guard let url = URL(string: "http://api.example.com:8080/users/\(user)/orders") else { return }
        var request = CapturedRequest(
            method: "GET", destination: .url(url), status: 200, start: 1_800_000_000_000_000_000,
            durationNanoseconds: 0)
        request.bytesReceived = 2
        request.phases[.queue] = 20_000
        request.phases[.firstByte] = 100_000
        request.phases[.transfer] = 10_000
        for number in 0..<operations {
            request.durationNanoseconds = UInt64(number)
            recorder.record(request)
        }
    }
}
