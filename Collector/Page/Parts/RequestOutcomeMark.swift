import MartletReports

/// The status or the error of a request, with a sign if it failed.
enum RequestOutcomeMark {
    /// - Parameter bytes: the bytes of the text at most.
    static func html(_ request: RequestSummary, atMost bytes: Int) -> HTML {
        html(RequestsTable.outcome(of: request), isFailure: request.failed, atMost: bytes)
    }

    static func html(_ text: String, isFailure: Bool, atMost bytes: Int) -> HTML {
        element("span", .class(isFailure ? "st bad" : "st")) {
            if isFailure { Icon.failed.html }
            // One box, in which codes of unseen characters stand within the text.
            element("span") { LongText.html(text, atMost: bytes) }
        }
    }
}
