import Foundation
import FoundationNetworking
import Martlet
import Tracing

/// Makes requests without Swift tasks, because a process that has used tasks cannot use them in a forked child.
struct Load {
    let server: URL
    let ended: URL
    let life: String

    /// Makes requests over a session of this process.
    func make(_ requests: Int, as worker: String) throws {
        let session = URLSession(configuration: .ephemeral)
        let url = server.appendingPathComponent(life).appendingPathComponent(worker)
        let file = ended.appendingPathComponent("\(life)+\(worker)")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        for _ in 0..<requests {
            let done = DispatchSemaphore(value: 0)
            session.dataTask(with: url) { _, _, _ in
                handle.write(Data([UInt8(ascii: ".")]))
                done.signal()
            }.resume()
            done.wait()
        }
    }

    /// Records requests as spans, which need neither a session nor a queue.
    static func record(_ requests: Int, at host: String) {
        for _ in 0..<requests {
            let span = MartletTracer().startAnySpan("GET", ofKind: .client)
            span.attributes["http.request.method"] = "GET"
            span.attributes["url.full"] = "http://\(host).test/span"
            span.attributes["http.response.status_code"] = 200
            span.end()
        }
    }
}

extension MartletAgent {
    /// Flushes and blocks this thread until the flush has ended.
    func flushNow() {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await self.flush()
            done.signal()
        }
        done.wait()
    }

    func shutdownNow() {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await self.shutdown()
            done.signal()
        }
        done.wait()
    }
}
