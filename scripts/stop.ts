import { installationPaths } from '@postern/contract/installation'
import { readFlags } from '@postern/host/flags'
import { runCommand } from './lib/command.ts'
import { type Environment, environmentOf, readSettings } from './lib/environment.ts'
import { findEdgeObstacle, observeMachine } from './lib/machine.ts'
import { takeTrafficDown } from './lib/programs.ts'
import { stopStarter } from './lib/running.ts'
import { readUnitSettings, stopUnits } from './lib/systemd.ts'

/** `npm stop`: stops server and edge, however they were started, and then the traffic too. */
async function stop(own: Environment, args: readonly string[]): Promise<number> {
  readFlags([], args)
  const machine = observeMachine()
  const environment = machine.isRoot ? { ...readUnitSettings(), ...own } : own
  const settings = readSettings(environment, machine)
  const wasStarted = await stopStarter(installationPaths(settings.POSTERN_DATA_DIR).starterPid)
  const wasService = machine.isRoot && (await stopUnits())
  process.stdout.write(
    wasStarted || wasService ? 'Server and edge are stopped.\n' : 'Server and edge were not running.\n',
  )
  if (findEdgeObstacle(machine)) return 0
  await takeTrafficDown(environmentOf('edge', environment, machine))
  process.stdout.write('HAProxy, the tunnel and the firewall rules are removed.\n')
  return 0
}

await runCommand((args) => stop(process.env, args))
