import { runCommand } from './lib/command.ts'
import { prepareInstallation } from './lib/installation.ts'

/** Runs before server and edge in their units: makes users and data directory as `npm start` does. */
await runCommand(async () => {
  await prepareInstallation(process.env)
  return 0
})
