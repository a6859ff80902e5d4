import Foundation
import FoundationNetworking

/// A delegate of a session or of a task that notes every call, and answers as the cell wants.
final class RecordingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionWebSocketDelegate
{
    struct Answers: Sendable {
        var redirect: @Sendable (HTTPURLResponse, URLRequest) -> URLRequest? = { $1 }
        var challenge: @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?) =
            {
                _ in (.performDefaultHandling, nil)
            }
        var bodyStream: @Sendable () -> InputStream? = { nil }
        var data: @Sendable (URLSessionTask) -> Void = { _ in }
    }

    let completed = Ending()
    let invalidated = Ending()
    private let transcript: Transcript
    private let answers: Answers

    init(_ transcript: Transcript, _ answers: Answers = Answers()) {
        self.transcript = transcript
        self.answers = answers
    }

    private func note(_ call: String, _ value: some Any, _ session: URLSession) {
        transcript.note(Self.name(call, session), value)
    }

    /// Returns a call's name, marked when the call is not on the delegate queue: a program sees that, too.
    private static func name(_ call: String, _ session: URLSession) -> String {
        OperationQueue.current === session.delegateQueue ? call : call + " (elsewhere than on the delegate queue)"
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("didBecomeInvalid", Described.error(error), session)
        invalidated.reach()
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("session didReceive challenge", Described.challenge(challenge), session)
        let (disposition, credential) = answers.challenge(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("willPerformHTTPRedirection", Described.response(response), session)
        note("… newRequest", Described.request(request), session)
        note("… task", Described.task(task), session)
        completionHandler(answers.redirect(response, request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("didReceive challenge", Described.challenge(challenge), session)
        let (disposition, credential) = answers.challenge(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // This call comes on the task's own queue, where most of the task's properties must not be read.
        note("needNewBodyStream", task.taskIdentifier, session)
        completionHandler(answers.bodyStream())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transcript.note(
            progress: "\(totalBytesSent) of \(totalBytesExpectedToSend)", as: Self.name("didSendBodyData", session))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("didComplete", Described.error(error), session)
        note("… task", Described.task(task), session)
        note("… progress", Described.progress(task), session)
        completed.reach()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("didFinishCollecting", metrics.transactionMetrics.count, session)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("didReceive response", Described.response(response), session)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(chunk: data, as: Self.name("didReceive data", session))
        answers.data(dataTask)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("willCacheResponse", Described.response(proposedResponse.response), session)
        completionHandler(proposedResponse)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        transcript.note(
            progress: "\(totalBytesWritten) of \(totalBytesExpectedToWrite)", as: Self.name("didWriteData", session))
        answers.data(downloadTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        note("didFinishDownloading", Downloaded.file(location), session)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol name: String?
    ) {
        note("webSocket didOpen", name ?? "none", session)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        note("webSocket didClose", closeCode.rawValue, session)
    }
}
