import Configuration
import Roost

/// What the service is told by its environment: `ROOST_DATA`, `HTTP_PORT` and so on.
struct Settings {
    let dataPath: String
    let host: String
    let port: Int
    /// How long a shutdown may take before what still runs is cancelled.
    let grace: Duration
    let durability: Durability
    /// Logins that a user may try in a minute.
    let loginLimit: Int

    static func fromEnvironment() -> Settings {
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let milliseconds = config.int(forKey: "roost.sync.milliseconds", default: 50)
        return Settings(
            dataPath: config.string(forKey: "roost.data", default: "data"),
            host: config.string(forKey: "http.host", default: "127.0.0.1"),
            port: config.int(forKey: "http.port", default: 8080),
            grace: .seconds(config.int(forKey: "server.grace.seconds", default: 10)),
            durability: milliseconds == 0 ? .synced : .interval(.milliseconds(milliseconds)),
            loginLimit: config.int(forKey: "login.limit", default: 10))
    }
}
