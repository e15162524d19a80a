import { installationPaths } from '@postern/contract/installation'
import { parseSettings, type Settings } from '@postern/contract/settings/settings'
import { type Environment, environmentOf, readSettings } from '../environment.ts'
import { findEdgeObstacle, observeMachine } from '../machine.ts'
import { takeTrafficDown } from './programs.ts'
import { stopStarter } from './running.ts'
import { readUnitSettings, stopUnits } from './systemd.ts'

/** Stops server and edge, however they were started, and then the traffic too. */
export async function stopInstallation(own: Environment): Promise<number> {
  const machine = observeMachine()
  const environment = machine.isRoot ? { ...readUnitSettings(), ...own } : own
  const settings = readSettings(environment, machine)
  const wasStarted = await stopStarter(installationPaths(settings.POSTERN_DATA_DIR).starterPid)
  const wasService = machine.isRoot && isOfUnits(settings) && (await stopUnits())
  process.stdout.write(
    wasStarted || wasService ? 'Server and edge are stopped.\n' : 'Server and edge were not running.\n',
  )
  if (findEdgeObstacle(machine)) return 0
  await takeTrafficDown(environmentOf('edge', environment, machine))
  process.stdout.write('HAProxy, the tunnel and the firewall rules are removed.\n')
  return 0
}

/** Another installation's units keep running. */
function isOfUnits(settings: Settings): boolean {
  const { POSTERN_DATA_DIR } = readUnitSettings()
  return settings.POSTERN_DATA_DIR === parseSettings({ POSTERN_DATA_DIR }).POSTERN_DATA_DIR
}
