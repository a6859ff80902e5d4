// A service of a chain, as a user would write it. It asks the next service over URLSession or AsyncHTTPClient and passes on
// the answer. Hummingbird's middleware is its only code for tracing.
//
//     ChainService urlsession|async-http-client <base URL of the next>
import AsyncHTTPClient
import Foundation
import FoundationNetworking
import Hummingbird
import Martlet
import Tracing

let arguments = CommandLine.arguments
guard arguments.count == 3, let next = URL(string: arguments[2]) else {
    FileHandle.standardError.write(Data("usage: ChainService urlsession|async-http-client <base URL>\n".utf8))
    exit(64)
}

let agent = MartletAgent.start()
let ask: @Sendable (URL) async throws -> String =
    switch arguments[1] {
    case "urlsession":
        { url in String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self) }
    default:
        { url in
            let answer = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: url.absoluteString), timeout: .seconds(30))
            return String(buffer: try await answer.body.collect(upTo: 1 << 20))
        }
    }

let router = Router()
router.add(middleware: TracingMiddleware())
router.get("orders/:order") { _, context in
    try await ask(next.appendingPathComponent("orders/\(try context.parameters.require("order"))"))
}
// This route wraps the call in a span of the service's own, as many API clients do.
router.get("wrapped/:order") { _, context in
    let url = next.appendingPathComponent("orders/\(try context.parameters.require("order"))")
    return try await agent.tracer.withSpan("ask for an order", ofKind: .client) { span in
        span.attributes["http.request.method"] = "GET"
        span.attributes["url.full"] = url.absoluteString
        let answer = try await ask(url)
        span.attributes["http.response.status_code"] = 200
        return answer
    }
}

var application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { channel in
        let line = "listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    })
application.addServices(agent)
try await application.runService()
