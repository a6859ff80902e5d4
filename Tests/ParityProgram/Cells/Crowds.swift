import Foundation
import FoundationNetworking

/// Many requests at once, compared as a multiset.
extension Cell {
    static let crowds: [Cell] = [
        Cell("64 at once, completion handler", isUnordered: true) { stage in
            let session = stage.session()
            await stage.crowd { session.dataTask(with: stage.request("echo?number=\($0)"), completionHandler: $1) }
        },
        Cell("64 at once, async", isUnordered: true) { stage in
            let session = stage.session()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Stage.crowd {
                    let request = stage.request("echo?number=\(number)")
                    group.addTask {
                        await stage.asynchronously(session) {
                            try await Described.response(session.data(for: request).1)
                        }
                    }
                }
            }
        },
        Cell("64 at once, HTTP/2", isUnordered: true) { stage in
            let session = stage.session()
            await stage.crowd {
                session.dataTask(with: stage.request("echo?number=\($0)", at: .http2), completionHandler: $1)
            }
        },
        Cell("64 at once, uploads over sessions of their own", isUnordered: true) { stage in
            await stage.crowd {
                stage.session().uploadTask(
                    with: stage.request("echo?number=\($0)", method: "POST"), from: Data(count: 10_000 + $0),
                    completionHandler: $1)
            }
        },
    ]
}

extension Stage {
    fileprivate static let crowd = 64

    /// Runs many tasks at once. They are made one after another, because their identifiers are counted.
    fileprivate func crowd(
        _ make: (Int, @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async {
        let tasks = (0..<Self.crowd).map { number in
            let ended = Ending()
            return (task: make(number, dataHandler(ended)), ended: ended)
        }
        await withTaskGroup(of: Void.self) { group in
            for (task, ended) in tasks { group.addTask { await self.finish(task, at: ended) } }
        }
    }
}
