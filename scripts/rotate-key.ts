import { readFlags } from '@postern/host/flags'
import { runCommand } from './lib/command.ts'
import { rotateKey } from './lib/server-tool.ts'

/** `npm run rotate-key`, and with `-- --all` every secret that the old key protected is renewed, too. */
await runCommand((args) => rotateKey(process.env, [...readFlags(['--all'], args)]))
