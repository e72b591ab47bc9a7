import Roost

let workspace = try await Workspace.open(at: "first-workspace")
let settings = workspace.dictionary("settings")

let launches: Int = try settings["launches", default: 0] + 1
try await settings.set(launches, forKey: "launches")

print("launch \(launches)")
try await workspace.close()
