/// The end of an upload.
enum UploadEnd: Equatable {
    case answered(UploadAnswer)
    /// - Parameter mayHaveArrived: `false` if the request did not leave this process as a whole.
    case failed(mayHaveArrived: Bool, reason: String)
    /// No answer came in time, and waiting for it has kept a core busy.
    case timedOut(reason: String)
}
