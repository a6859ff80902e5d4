import MartletReports

/// The steps from nothing to the first request.
enum FirstSteps {
    static func html(_ pageRequest: PageRequest) -> HTML {
        HTML.joined([
            element("div", .class("two uneven-r")) {
                element("ol", .class("steps")) {
                    step(
                        "Add the package",
                        """
                        // Package.swift
                        .package(name: "martlet", path: "../martlet"),    // or the URL that you cloned it from
                        // …
                        .product(name: "Martlet", package: "martlet"),
                        """)
                    step(
                        "Start the agent, first thing in main",
                        """
                        import Martlet

                        let agent = MartletAgent.start()

                        // … your service, unchanged …

                        await agent.shutdown(within: .seconds(5))
                        """, "No request of the service has to be changed.")
                    step(
                        "Say who it is and where this collector is",
                        "MARTLET_SERVICE_NAME=checkout MARTLET_ENDPOINT=\(pageRequest.collectorAddress) ./checkout",
                        """
                        MARTLET_ENDPOINT is \(CollectorAddress.usual) unless it is set. Services with an OpenTelemetry SDK need no \
                        agent: they send OTLP over HTTP to \(pageRequest.collectorAddress).
                        """)
                }
                expected
            },
            CommandLine(pageRequest, "agents", formats: [("JSON", PageAddress("/api/v1/agents"))]).html,
        ])
    }

    private static func step(_ title: String, _ code: String, _ hint: String? = nil) -> HTML {
        element("li", .class("panel")) {
            element("h2") { title }
            element("pre", .class("select"), Attribute("tabindex", "0")) { code }
            if let hint { element("p", .class("hint")) { hint } }
        }
    }

    private static var expected: HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", "h-why")) {
            element("h2", .id("h-why")) { "If you expected something here" }
            element("h3") { "From the service’s side" }
            element("p", .class("hint")) {
                element("code") { "agent.status" }
                " shows how requests are seen, how many wait, and why the last upload failed."
            }
            element("h3") { "From this side" }
            element("p", .class("hint")) {
                "A collector with an ingest token takes no batch without it: set "
                element("code") { "MARTLET_TOKEN" }
                " in the service. One that listens on 127.0.0.1 cannot be reached from other hosts. Its log and "
                link(PageAddress("/metrics")) { "its own figures" }
                " tell what was refused."
            }
        }
    }
}
