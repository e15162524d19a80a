import { readFlags } from '@postern/host/flags'
import { runCommand } from './lib/command.ts'
import { stopInstallation } from './lib/programs/stop-installation.ts'

/** `npm stop` */
await runCommand((args) => {
  readFlags([], args)
  return stopInstallation(process.env)
})
