import { readFlags } from '@postern/host/flags'
import { runCommand } from './lib/command.ts'
import { takeEnvironment } from './lib/environment.ts'
import { setPassword } from './lib/server-tool.ts'

/** `npm run password` */
await runCommand((args) => {
  readFlags([], args)
  return setPassword(takeEnvironment())
})
