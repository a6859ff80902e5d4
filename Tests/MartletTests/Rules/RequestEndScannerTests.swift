import Testing

@testable import Martlet

/// The end of a request that arrives in parts.
@Suite struct RequestEndScannerTests {
    private static let requests = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=y\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
        "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer: y\r\n\r\n",
    ]

    @Test(arguments: requests, [1, 2, 7, 1000])
    func requestIsCompleteWithItsLastByte(request: String, part: Int) {
        let bytes = Array(request.utf8)
        var end = RequestEndScanner()
        var taken = 0
        var completeAt: Int?
        while taken < bytes.count, completeAt == nil {
            let next = min(taken + part, bytes.count)
            if end.take(Array(bytes[taken..<next])) { completeAt = next }
            taken = next
        }
        #expect(completeAt == bytes.count)
    }

    @Test(arguments: requests)
    func requestWithoutItsLastByteIsNotComplete(request: String) {
        var end = RequestEndScanner()
        let isComplete = end.take(Array(request.utf8.dropLast()))
        #expect(!isComplete)
    }
}
