#if os(Linux)
import CMartletHooks
import Foundation
import FoundationNetworking
import MartletTelemetry

/// An observer between a native loader and its client. It forwards every call unchanged, and records the request at the
/// first call that ends it.
///
/// `@unchecked Sendable` because `URLProtocolClient` requires it. That is safe: all calls come on the session's serial
/// queue, and the last release follows them.
final class RequestObserver: NSObject, URLProtocolClient, @unchecked Sendable {
    private let client: any URLProtocolClient
    private let observation: RequestObservation
    private let handle: EasyHandle?
    private let instrument: RequestInstrument
    /// Whether the request has a body. libcurl does not report when the answer to such a request came.
    private let sendsBody: Bool
    /// The changes that rules make to the loader's transfer; `nil` for none.
    private let rule: RuleTransfer?
    /// The times at which libcurl wrote the last request and received the head of its answer, in nanoseconds of the
    /// monotonic clock; `nil` before that.
    private var (written, head): (UInt64?, UInt64?)
    private var response: URLResponse?
    private var responseBody: Data?
    /// The authentication challenge, and the key of its task; `nil` if there was none.
    private var challenge: (answer: RequestAnswer, task: InFlightRequests.Key)?

    /// Makes an observer for a loader that has not started. The observer must be the loader's client until the loader ends.
    ///
    /// - Parameters:
    ///   - sendsBody: whether the request has a body.
    ///   - rule: the changes that rules make to the request; `nil` for none.
    init(
        of client: any URLProtocolClient, loader: URLProtocol, observation: RequestObservation, sendsBody: Bool,
        rule: RuleDecision?, instrument: RequestInstrument
    ) {
        self.client = client
        self.observation = observation
        self.sendsBody = sendsBody
        self.instrument = instrument
        let handle = EasyHandle(of: loader)
        self.handle = handle
        self.rule = rule.flatMap { rule in handle.flatMap { RuleTransfer(rule, to: loader, $0) } }
        super.init()
        if rule != nil, self.rule == nil { observation.forgetRule() }
        guard let handle else {
            if EasyHandle.isAvailable { CaptureSwitch.note(.noHandle) }
            return
        }
        guard instrument.recorder.allowance.traces || rule != nil else { return }
        handle.callBeforeRequest(Unmanaged.passUnretained(self).toOpaque()) { observer, _, _, _, _ in
            guard let observer else { return 0 }
            return Unmanaged<RequestObserver>.fromOpaque(observer).takeUnretainedValue().requestIsWritten()
        }
    }

    /// Returns whether the loader starts now. If a rule delays the start, the loader is started later.
    func mayStart() -> Bool { rule?.mayStart() ?? true }

    /// Records a request that ended without a callback after a challenge. Foundation releases a loader when its task
    /// has ended, or when the task continues with another loader. May run on any thread.
    deinit {
        guard let (answer, task) = challenge, observation.belongsToThisProcess, observation.endedSilently(with: answer)
        else {
            return
        }
        InFlightRequests.remove(observation, at: task)
        instrument.recordSilentEnd(of: observation, with: answer)
    }

    /// Records the request before it forwards the call, so that a request is counted before its caller has the answer.
    func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        end(loader.task, error: nil)
        client.urlProtocolDidFinishLoading(loader)
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        let error = rule?.error(insteadOf: error) ?? error
        end(loader.task, error: error)
        client.urlProtocol(loader, didFailWithError: error)
    }

    /// Keeps the body. `URLSession` calls this once, with the whole body, for a task with a completion handler. A
    /// delegate receives its data through other calls.
    func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        let recorder = instrument.recorder
        if recorder.settings.contents.hasBodies, recorder.allowance.keepsDetails { responseBody = data }
        client.urlProtocol(loader, didLoad: data)
    }

    func urlProtocol(
        _ loader: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        client.urlProtocol(loader, wasRedirectedTo: request, redirectResponse: redirectResponse)
    }

    /// Notes that the session's cache provides the answer: the request is not sent, and no rule changes it.
    func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        if rule != nil { observation.forgetRule() }
        client.urlProtocol(loader, cachedResponseIsValid: cachedResponse)
    }

    func urlProtocol(
        _ loader: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        self.response = response
        client.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    func urlProtocol(_ loader: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        client.urlProtocol(loader, didReceive: challenge)
    }

    func urlProtocol(_ loader: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        client.urlProtocol(loader, didCancel: challenge)
    }

    func end(_ task: URLSessionTask?, error: (any Error)?) {
        guard observation.belongsToThisProcess else { return }
        guard let task else { return CaptureSwitch.note(.noTask) }
        AgentCost.measure {
            if written != nil { handle?.ignoreHead() }
            // The response noted here takes precedence, because `task.response` waits for the task's own queue.
            let response = response ?? task.response
            let answer = RequestAnswer(
                response: response as? HTTPURLResponse, error: error, handle: handle, body: responseBody,
                isTimed: instrument.recorder.allowance.traces, firstByte: firstByte)
            (self.response, responseBody) = (nil, nil)
            if mayContinue(after: answer) {
                challenge = (answer, InFlightRequests.key(task))
                observation.noteChallenge(answer, of: task)
            } else {
                instrument.recordEnd(of: observation, task, with: answer, handle: handle)
            }
        }
    }

    /// Returns whether the request may continue after this answer. In explicit mode the agent does not see the loader
    /// after a challenge, so there the challenge counts as the end.
    private func mayContinue(after answer: RequestAnswer) -> Bool {
        guard answer.error == nil, let response = answer.response, isEveryLoaderSeen else {
            return false
        }
        return AuthenticationChallenge.isPresent(in: response)
    }

    private var isEveryLoaderSeen: Bool {
        observation.start.scope != nil || !CaptureSwitch.isExplicit.load(ordering: .relaxed)
    }

    /// Notes a request that libcurl is about to write, the first or a redirected one, and adds its trace headers.
    /// Returns 0, which lets libcurl continue.
    private func requestIsWritten() -> Int32 {
        guard observation.belongsToThisProcess else { return 0 }
        AgentCost.measure {
            let (context, recorder) = (observation.noteRequestWritten(), instrument.recorder)
            rule?.changeHeaders()
            if awaitsHead { awaitHead() }
            guard let context, recorder.allowance.traces, let handle,
                recorder.settings.propagates(to: handle.target)
            else { return }
            handle.addTraceHeaders(context)
        }
        return 0
    }

    /// Whether libcurl should report the head of the answer: to time the first byte of a request with a body, and to
    /// end a rule.
    private var awaitsHead: Bool {
        rule != nil || (sendsBody && instrument.recorder.allowance.traces)
    }

    private func awaitHead() {
        (written, head) = (Clock.monotonic(), nil)
        handle?.callAtHead(Unmanaged.passUnretained(self).toOpaque()) { observer in
            guard let observer else { return }
            Unmanaged<RequestObserver>.fromOpaque(observer).takeUnretainedValue().headCame()
        }
    }

    private func headCame() {
        head = Clock.monotonic()
        rule?.noteHead()
    }

    /// The nanoseconds from writing the request to the head of its answer; `nil` if the agent did not wait for the head
    /// or it has not come.
    private var firstByte: UInt64? {
        guard let written, let head else { return nil }
        return head &- written
    }
}

/// The rule by which `URLSession` on Linux recognises an authentication challenge. It then asks its delegate or its
/// storage, and without credentials the task never ends (6.3.1).
///
/// This type parses the header field exactly as Foundation does (`HTTPMessage.swift`, `_Challenge`), including its
/// mistakes. Otherwise the agent would wait for a request that ended, or count a request twice.
enum AuthenticationChallenge {
    private typealias Text = Substring.UnicodeScalarView

    /// Returns whether the response is an authentication challenge. `URLSession` knows only Basic with a realm (RFC
    /// 7617); a 401 with any other scheme is an ordinary response.
    static func isPresent(in response: HTTPURLResponse) -> Bool {
        guard response.statusCode == 401, let field = response.value(forHTTPHeaderField: "WWW-Authenticate") else {
            return false
        }
        return isBasic(field)
    }

    /// Returns whether a value of `WWW-Authenticate` holds a Basic challenge with a realm. The value is a list of
    /// challenges, each with a list of parameters. Commas separate both (RFC 9110, section 11.6.1), so a scheme may follow
    /// each comma.
    static func isBasic(_ field: String) -> Bool {
        var rest = Substring(field).unicodeScalars
        while let scheme = takeToken(&rest) {
            if scheme.lowercased() == "basic", hasRealm(rest) { return true }
            guard let comma = rest.firstIndex(of: ",") else { return false }
            rest = rest[rest.index(after: comma)...].drop { $0 == " " }
        }
        return false
    }

    /// Returns whether a realm comes before the first parameter that cannot be read.
    private static func hasRealm(_ parameters: Text) -> Bool {
        var rest = parameters
        repeat {
            rest = rest.drop { $0 == " " }
            guard let name = takeToken(&rest) else { return false }
            rest = rest.drop(while: isBlank)
            guard rest.popFirst() == "=" else { return false }
            rest = rest.drop(while: isBlank)
            guard takeValue(&rest) else { return false }
            if name.lowercased() == "realm" { return true }
            rest = rest.drop { $0 == " " }
        } while rest.popFirst() == ","
        return false
    }

    /// Takes a token or a quoted string. Returns `false` if there is neither.
    private static func takeValue(_ rest: inout Text) -> Bool {
        guard rest.first == "\"" else { return takeToken(&rest) != nil }
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return true }
            guard isText(scalar), scalar != "\\" || rest.popFirst().map(isText) == true else { return false }
        }
        return false
    }

    private static func takeToken(_ rest: inout Text) -> String? {
        let token = rest.prefix(while: isTokenPart)
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(token)
    }

    private static func isTokenPart(_ scalar: Unicode.Scalar) -> Bool {
        (0x20...0x7e).contains(scalar.value) && !"()<>@,;:\\\"/[]?={} ".unicodeScalars.contains(scalar)
    }

    private static func isText(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\t" || (0x20...0x7e).contains(scalar.value) || (0x80...0xff).contains(scalar.value)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
#endif
