import MartletFindings
import MartletReports
import MartletStorage

/// What happened in the window of a command about requests, with its filters.
struct SelectedFindings: Sendable {
    let source: SourceOptions
    let selection: SelectionOptions
    /// The parameter `compare` of the command. If it names two versions, the requests are those of the later one.
    var compare: String?

    /// Returns the findings of some kinds, or of all if there are none; `nil` if the collector is too old to have the route.
    func report(of kinds: Set<FindingKind> = []) async throws -> FindingsReport? {
        var parameters = try parameters
        for kind in kinds.map(\.rawValue).sorted() { parameters.add(.kind, kind) }
        do {
            return try await source.findings(parameters).selecting(try filter)
        } catch let failure as CollectorClient.Failure where failure.isUnknownRoute {
            return nil
        }
    }

    /// The lines above a report. There are none if a store is read, because only a collector watches.
    var lines: FindingLines {
        get async throws {
            guard source.store == nil, let report = try await report() else { return FindingLines() }
            return FindingLines(report, try parameters.commandFlags + source.flags)
        }
    }

    /// The window, and the filters that findings have.
    private var parameters: FindingsParameters {
        get throws {
            var parameters = FindingsParameters()
            selection.window.add(to: &parameters)
            try parameters.add(filters.filter { FindingsParameter.filters.contains($0.dimension) })
            return parameters
        }
    }

    private var filter: RequestFilter {
        get throws {
            var parameters = ReportParameters()
            parameters.add(filters)
            return try parameters.filter()
        }
    }

    private var filters: [FilterValue] {
        let given = selection.requests.filters
        guard let versions = ComparisonBase.versions(in: compare) else { return given }
        return given.filter { $0.dimension != .version } + [(.version, versions.after)]
    }
}
