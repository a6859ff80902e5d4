/// The end of an upload.
enum UploadEnd: Equatable {
    case answered(UploadAnswer)
    case failed(reason: String)
    /// No answer came in time, and waiting for it has kept a core busy.
    case timedOut(reason: String)
}
