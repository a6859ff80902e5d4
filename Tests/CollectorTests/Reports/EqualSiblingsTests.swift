import MartletStorage
import Testing

@testable import MartletReports

@Suite struct EqualSiblingsTests {
    private func report(_ endpoints: [String], service: (Int) -> String = { _ in "web" }, rowCount: Int? = nil)
        -> Report
    {
        var report = SampleReport.report
        let row = report.rows[0]
        report.rows = endpoints.enumerated().map { index, endpoint in
            var row = row
            row.dimensions[.endpoint] = endpoint
            row.dimensions[.service] = service(index)
            return row
        }
        report.rowCount = rowCount ?? report.rows.count
        return report
    }

    private func thumbs(_ count: Int, in folder: String = "files") -> [String] {
        (0..<count).map { "/\(folder)/thumb-\($0).jpg" }
    }

    @Test func templateIsSuggestedForEndpointsThatDifferInTheDigitsOfASegment() {
        let report = report(thumbs(40) + ["/files/index.html", "/files/2/thumb-1.jpg"])
        #expect(EqualSiblings.all(in: report) == [EqualSiblings(template: "/files/{name}", count: 40)])
        let sentence = "40 endpoints differ in digits only: MARTLET_ENDPOINTS=/files/{name} folds them"
        #expect(EqualSiblings.sentence(about: report) == sentence)
        for device in [OutputDevice.file, OutputDevice(columns: 120)] {
            #expect(ReportTable.text(of: report, SampleReport.context, on: device).contains("\n\(sentence).\n"))
        }
    }

    @Test func templateKeepsTheParametersOfTheName() {
        let report = report((0..<9).map { "/users/{id}/slot\($0)/raw" })
        #expect(EqualSiblings.all(in: report).map(\.template) == ["/users/{id}/{name}/raw"])
    }

    @Test func severalTemplatesShareASettingTheLargestFirst() {
        let report = report(thumbs(8, in: "a") + thumbs(12, in: "b"))
        #expect(
            EqualSiblings.sentence(about: report)
                == "20 endpoints differ in digits only: MARTLET_ENDPOINTS=/b/{name},/a/{name} folds them")
    }

    @Test func cutRowsAreNotCounted() {
        let sentence = EqualSiblings.sentence(about: report(thumbs(10), rowCount: 300))
        #expect(sentence?.hasPrefix("At least 10 endpoints") == true)
    }

    @Test(arguments: [
        (0..<7).map { "/files/thumb-\($0).jpg" }, (0..<9).map { "/files/\("abcdefghi".dropFirst($0))" },
        (0..<9).map { "/a\($0)/b\($0)" }, (0..<9).map { "shop.Orders/Get\($0)" },
        (0..<9).map { "/images/{id}.png/t\($0)" },
        (0..<9).map { "/a,b/t\($0)" }, [],
    ])
    func fewOrDifferentEndpointsAreNotSiblings(endpoints: [String]) {
        #expect(EqualSiblings.sentence(about: report(endpoints)) == nil)
    }

    @Test func endpointsOfDifferentServicesAreNotSiblings() {
        #expect(EqualSiblings.all(in: report(thumbs(14), service: { $0 < 7 ? "web" : "shop" })).isEmpty)
        let both = report(thumbs(16), service: { $0 < 8 ? "web" : "shop" })
        #expect(EqualSiblings.all(in: both) == [EqualSiblings(template: "/files/{name}", count: 16)])
    }

    @Test func endpointWithDigitsInTwoSegmentsCountsOnce() {
        let report = report((0..<8).flatMap { row in (0..<9).map { "/a\(row)/b\($0)" } })
        #expect(EqualSiblings.all(in: report).map(\.count).reduce(0, +) == 72)
    }
}
