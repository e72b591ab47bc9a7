// Stored values as JSON and as text: what every command reads and prints.
@_exported import RoostForms
