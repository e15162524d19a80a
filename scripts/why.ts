import { runCommand } from './lib/command.ts'
import { takeEnvironment } from './lib/environment.ts'
import { showWhy } from './lib/why.ts'

/** `npm run why -- ADDRESS` */
await runCommand((args) => showWhy(takeEnvironment(), args))
