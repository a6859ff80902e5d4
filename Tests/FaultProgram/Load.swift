import Foundation
import FoundationNetworking

/// Makes requests, a few at a time. Each worker has its own endpoint and makes one request after the other, so at most
/// one request of each endpoint is under way when the process is killed.
struct Load: Sendable {
    private let workers: [Worker]

    init(_ options: Options) throws {
        let session = URLSession(configuration: .ephemeral)
        workers = try (0..<options.workers).map { try Worker(number: $0, session: session, options) }
    }

    func run(_ requests: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, worker) in workers.enumerated() {
                group.addTask {
                    for _ in stride(from: number, to: requests, by: workers.count) { await worker.work() }
                }
            }
        }
    }

    /// Makes requests until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers {
                group.addTask {
                    while !Task.isCancelled { await worker.work() }
                }
            }
        }
    }
}

private struct Worker: Sendable {
    private let url: URL
    private let session: URLSession
    private let ended: EndedFile

    init(number: Int, session: URLSession, _ options: Options) throws {
        self.session = session
        url = options.server.appendingPathComponent(options.life).appendingPathComponent("worker-\(number)")
        ended = try EndedFile(options.ended.appendingPathComponent("\(options.life)+worker-\(number)"))
    }

    /// Makes a request. Its end is noted in the completion handler, the first moment at which a service knows of the
    /// answer.
    func work() async {
        await withCheckedContinuation { done in
            session.dataTask(with: url) { _, _, error in
                ended.add()
                if let error {
                    FileHandle.standardError.write(Data("\(url.path): \(error.localizedDescription)\n".utf8))
                }
                done.resume()
            }.resume()
        }
    }
}
