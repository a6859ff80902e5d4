import Foundation
import FoundationNetworking

/// Every kind of task in every style of waiting for it.
extension Cell {
    static let kinds: [Cell] = Kind.allCases.flatMap { kind in
        Style.allCases.map { style in
            Cell("\(kind.rawValue), \(style.rawValue)") { try await kind.load(style, on: $0) }
        }
    }

    private enum Style: String, CaseIterable {
        case asynchronous = "async"
        case handler = "completion handler"
        case sessionDelegate = "session delegate"
        case taskDelegate = "task delegate"
    }

    private enum Kind: String, CaseIterable {
        case data
        case uploadData = "upload from data"
        case uploadFile = "upload from file"
        case uploadStream = "upload streamed"
        case download

        private static let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })

        func load(_ style: Style, on stage: Stage) async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("parity-upload")
            try Self.body.write(to: file)
            switch style {
            case .asynchronous:
                let (session, request) = (stage.session(), request(on: stage))
                await stage.asynchronously(session) { try await self.load(request, file, session, delegate: nil) }
            case .taskDelegate:
                let (session, request, delegate) = (stage.session(), request(on: stage), stage.delegate())
                await stage.asynchronously(session) { try await self.load(request, file, session, delegate: delegate) }
            case .handler:
                let ended = Ending()
                await stage.finish(task(file, stage.session(), stage, ended), at: ended)
            case .sessionDelegate:
                let delegate = stage.delegate(.init(bodyStream: { InputStream(data: Self.body) }))
                await stage.finish(task(file, stage.session(delegate: delegate), stage), at: delegate.completed)
            }
        }

        private func request(on stage: Stage) -> URLRequest {
            guard self != .data else { return stage.request("big?bytes=100000") }
            // The body is one chunk: for an async download with a delegate Foundation writes each chunk twice.
            guard self != .download else { return stage.request("hello") }
            var request = stage.request("echo", method: "POST")
            if self == .uploadStream { request.httpBodyStream = InputStream(data: Self.body) }
            return request
        }

        private func load(
            _ request: URLRequest, _ file: URL, _ session: URLSession, delegate: RecordingDelegate?
        ) async throws -> String {
            let (result, response): (String, URLResponse)
            switch self {
            case .data, .uploadStream:
                let (data, answer) = try await session.data(for: request, delegate: delegate)
                (result, response) = ("\(Bytes(data))", answer)
            case .uploadData:
                let (data, answer) = try await session.upload(for: request, from: Self.body, delegate: delegate)
                (result, response) = ("\(Bytes(data))", answer)
            case .uploadFile:
                let (data, answer) = try await session.upload(for: request, fromFile: file, delegate: delegate)
                (result, response) = ("\(Bytes(data))", answer)
            case .download:
                let (location, answer) = try await session.download(for: request, delegate: delegate)
                (result, response) = (Downloaded.file(location), answer)
            }
            return "\(result) | \(Described.response(response))"
        }

        private func task(_ file: URL, _ session: URLSession, _ stage: Stage, _ ended: Ending) -> URLSessionTask {
            let request = request(on: stage)
            let handler = stage.dataHandler(ended)
            return switch self {
            case .data, .uploadStream: session.dataTask(with: request, completionHandler: handler)
            case .uploadData: session.uploadTask(with: request, from: Self.body, completionHandler: handler)
            case .uploadFile: session.uploadTask(with: request, fromFile: file, completionHandler: handler)
            case .download: session.downloadTask(with: request, completionHandler: stage.downloadHandler(ended))
            }
        }

        private func task(_ file: URL, _ session: URLSession, _ stage: Stage) -> URLSessionTask {
            let request = request(on: stage)
            return switch self {
            case .data: session.dataTask(with: request)
            case .uploadData: session.uploadTask(with: request, from: Self.body)
            case .uploadFile: session.uploadTask(with: request, fromFile: file)
            case .uploadStream: session.uploadTask(withStreamedRequest: stage.request("echo", method: "POST"))
            case .download: session.downloadTask(with: request)
            }
        }
    }
}
