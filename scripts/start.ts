import { readFlags } from '@postern/host/flags'
import { renderBanner, renderDataPlane, renderHint } from './lib/banner.ts'
import { runCommand, untilSignal } from './lib/command.ts'
import { takeEnvironment } from './lib/environment.ts'
import { runInstallation } from './lib/programs/run-installation.ts'

/** `npm start`: runs server and edge until a signal, and never ends the traffic. */
await runCommand(async (args) => {
  readFlags([], args)
  const say = (text: string) => void process.stdout.write(text)
  await runInstallation(takeEnvironment(), untilSignal(), {
    onServer: (banner) => say(renderBanner(banner) + (banner.obstacle ? renderHint(false) : '')),
    onEdge: (dataPlane) => say(renderDataPlane(dataPlane) + renderHint(true)),
    warn: (text) => void process.stderr.write(text),
  })
  return 0
})
