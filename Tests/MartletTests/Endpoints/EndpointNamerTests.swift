import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct EndpointNamerTests {
    @Test(arguments: [
        ("", "/"), ("/", "/"), ("/users", "/users"), ("/users/", "/users/"),
        ("/users/4711", "/users/{id}"), ("/users/4711/orders/12", "/users/{id}/orders/{id}"),
        ("/reports/2024-01-15", "/reports/{id}"),
        ("/files/6f9619ff-8b86-d011-b42d-00c04fc964ff", "/files/{id}"),
        ("/files/6F9619FF-8B86-D011-B42D-00C04FC964FF/raw", "/files/{id}/raw"),
        ("/objects/507f1f77bcf86cd799439011", "/objects/{id}"),
        ("/links/V1StGXR8_Z5jdHi6B-myT", "/links/{id}"),
        ("/sessions/eyJhbGciOiJIUzI1NiJ9", "/sessions/{id}"),
        ("/keys/k3j9x8a2m1p0q7z5", "/keys/{id}"),
        ("/images/4711.png", "/images/{id}.png"),
    ])
    func valuesBecomeID(path: String, endpoint: String) {
        #expect(EndpointNamer().endpoint(ofPath: path) == endpoint)
    }

    @Test(arguments: [
        "/v1/users", "/api/v2.1/health", "/facade", "/beef", "/deadbeef", "/defaced", "/oauth2/token", "/sha256",
        "/getUserProfileSettings2", "/a-rather-long-name-with-4-words", "/.well-known/openid-configuration",
        "/favicon.ico", "/report-2024.pdf", "/internationalization", "/utf8", "/base64",
    ])
    func wordsAreKept(path: String) {
        #expect(EndpointNamer().endpoint(ofPath: path) == path)
    }

    @Test(arguments: [
        ("/a/4711.c", "/a/{id}.c"), ("/a/4711.xhtml", "/a/{id}.xhtml"), ("/a/471108.sqlite", "/a/{id}"),
    ])
    func fileExtensionsHaveUpToFiveLetters(path: String, endpoint: String) {
        #expect(EndpointNamer().endpoint(ofPath: path) == endpoint)
    }

    @Test func userTemplatesTakePrecedenceAndTheFirstMatchWins() {
        let namer = EndpointNamer(templates: ["/users/{name}/orders/*", "/users/{name}", "/static/*", "/v/*/x"])
        #expect(namer.endpoint(ofPath: "/users/ada/orders/17") == "/users/{name}/orders/*")
        #expect(namer.endpoint(ofPath: "/users/ada/orders/17/lines/3") == "/users/{name}/orders/*")
        #expect(namer.endpoint(ofPath: "/users/4711") == "/users/{name}")
        #expect(namer.endpoint(ofPath: "/static/js/app.js") == "/static/*")
        #expect(namer.endpoint(ofPath: "/v/a/x") == "/v/*/x")
        #expect(namer.endpoint(ofPath: "/v/a/b/x") == "/v/a/b/x")
        #expect(namer.endpoint(ofPath: "/users//orders/1") == "/users//orders/{id}")
        #expect(namer.endpoint(ofPath: "/users/ada/orders") == "/users/ada/orders")
    }

    @Test(arguments: [
        ("/users/:id", "/users/ada", "/users/{id}"),
        ("/users/:id/orders/:order", "/users/7/orders/8", "/users/{id}/orders/{order}"),
        ("/files/*", "/files/a", "/files/*"), ("/files/*", "/files/a/b", "/files/*"),
        ("/files/*/raw", "/files/a/raw", "/files/*/raw"),
        ("/files/**", "/files/a", "/files/**"), ("/files/**", "/files/a/b/c", "/files/**"),
        ("/files/**", "/files", "/files"),
        ("/jobs:batch/:id", "/jobs:batch/x", "/jobs:batch/{id}"),
    ])
    func routesOfHummingbirdAndVaporAreTemplates(route: String, path: String, endpoint: String) {
        #expect(EndpointNamer(templates: [route]).endpoint(ofPath: path) == endpoint)
    }

    @Test(arguments: [
        "users/{id}", "", "/users/{id", "/users/x{id}", "/users/{a{b}}", "/a?b=c", "/a b", "/a\u{7}", "/a//b", "/a#b",
        "/a/**/b",
        "/a/x*", "/:a{b}", "https://host/a",
    ])
    func invalidTemplateIsRefused(text: String) {
        #expect(EndpointTemplate(text) == nil)
    }

    @Test func hostilePathHasAShortName() {
        let deep = String(repeating: "/a", count: 10_000)
        #expect(EndpointNamer().endpoint(ofPath: deep) == String(repeating: "/a", count: 16) + "/{rest}")
        let long = "/search/" + String(repeating: "lorem-ipsum-", count: 500)
        #expect(EndpointNamer().endpoint(ofPath: long) == "/search/{rest}")
        #expect(EndpointNamer().endpoint(ofPath: "/" + long.dropFirst("/search/".count)) == "/{rest}")
        #expect(EndpointNamer().endpoint(ofPath: "/" + String(repeating: "x", count: 5000)) == "/{id}")
    }

    @Test func unknownMethodBecomesOther() {
        #expect(HTTPMethod.name("PATCH") == "PATCH")
        #expect(HTTPMethod.name("get") == "_OTHER")
        #expect(HTTPMethod.name("X\u{1b}[2J") == "_OTHER")
    }
}
