import Foundation
import FoundationNetworking

/// One way of making a request.
///
/// A request that is interrupted is never near its end: FoundationNetworking (6.3.1) itself ends the process when a task
/// is cancelled, or suspended and resumed, just as it ends ("a task that in not in the registry").
struct RequestKind: Sendable {
    /// The number of requests of this kind in a thousand.
    let share: Int
    /// Makes one request and returns when its caller knows of its end. The task is resumed before anything else is
    /// done with it: a task that was cancelled first never becomes a request.
    let make: @Sendable (Int) async -> Void

    init(_ share: Int, _ make: @escaping @Sendable (Int) async -> Void) {
        self.share = share
        self.make = make
    }

    static func all(_ options: Options) -> [RequestKind] {
        let session = options.session()
        let delegate = TaskEnds()
        return answers(options, session) + transfers(options, session)
            + delegated(options, options.session(delegate), delegate) + interruptions(options, session)
            + sessions(options)
    }

    private static func answers(_ options: Options, _ session: URLSession) -> [RequestKind] {
        let refused = URL(string: "http://127.0.0.1:1/refused") ?? options.url("refused")
        // Foundation (6.3.1) ignores the time-out that the initializer takes.
        var impatient = URLRequest(url: options.url("silent"))
        impatient.timeoutInterval = 1
        return [
            RequestKind(245) { _ = try? await session.data(from: options.url("users/\($0)/orders?token=secret")) },
            RequestKind(245) { await session.answer(to: URLRequest(url: options.url("items/\($0)"))) },
            RequestKind(40) { _ in _ = try? await session.data(from: options.url("redirect")) },
            RequestKind(40) { _ = try? await session.data(from: options.url("missing/\($0)")) },
            RequestKind(20) { _ in await session.answer(to: URLRequest(url: options.url("broken"))) },
            RequestKind(30) { _ in await session.answer(to: URLRequest(url: refused)) },
            RequestKind(1) { [impatient] _ in await session.answer(to: impatient) },
        ]
    }

    private static func transfers(_ options: Options, _ session: URLSession) -> [RequestKind] {
        var post = URLRequest(url: options.url("posted"))
        post.httpMethod = "POST"
        return [
            RequestKind(89) { [post] in _ = try? await session.upload(for: post, from: Data(count: $0 % 20_000)) },
            RequestKind(20) { [post] _ in
                _ = try? await session.upload(for: post, fromFile: URL(fileURLWithPath: #filePath))
            },
            RequestKind(50) { _ in
                guard let (file, _) = try? await session.download(from: options.url("file")) else { return }
                try? FileManager.default.removeItem(at: file)
            },
        ]
    }

    private static func delegated(_ options: Options, _ session: URLSession, _ ends: TaskEnds) -> [RequestKind] {
        [
            RequestKind(140) { await ends.end(of: session.dataTask(with: options.url("users/\($0)"))) },
            RequestKind(20) { _ in
                await ends.end(of: session.dataTask(with: options.url("slow"))) { $0.cancel() }
            },
            RequestKind(1) { _ in
                await ends.end(of: session.dataTask(with: options.url("paced"))) { task in
                    task.suspend()
                    task.resume()
                }
            },
        ]
    }

    /// Requests that are cancelled at any moment, even before the loader has started.
    private static func interruptions(_ options: Options, _ session: URLSession) -> [RequestKind] {
        ["slow", "silent", "detour"].map { path in
            RequestKind(13) { _ in
                await session.answer(to: URLRequest(url: options.url(path))) { task in
                    await anyMoment()
                    task.cancel()
                }
            }
        }
    }

    /// Requests over a separate session that ends while they are in flight.
    private static func sessions(_ options: Options) -> [RequestKind] {
        [
            RequestKind(10) { _ in
                let session = options.session()
                await session.answer(to: URLRequest(url: options.url("file"))) { _ in
                    session.finishTasksAndInvalidate()
                }
            },
            RequestKind(10) { _ in
                let session = options.session(TaskEnds())
                await session.answer(to: URLRequest(url: options.url("slow"))) { _ in
                    await anyMoment()
                    session.invalidateAndCancel()
                }
            },
        ]
    }

    private static func anyMoment() async { try? await Task.sleep(for: .microseconds(Int.random(in: 0..<10_000))) }
}

extension URLSession {
    /// Makes a request by a task with a completion handler, and waits for its end. Calls `meddle` right after the task's
    /// resume.
    fileprivate func answer(
        to request: URLRequest, _ meddle: @escaping @Sendable (URLSessionTask) async -> Void = { _ in }
    ) async {
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        let task = dataTask(with: request) { _, _, _ in end.finish() }
        task.resume()
        await meddle(task)
        for await _ in ends {}
    }
}
