import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { installationPaths } from '@postern/contract/installation'
import { parseSettings } from '@postern/contract/settings/settings'
import { must } from '@postern/host/processes/exec'
import { publicUrl, readConfig } from '../../../apps/server/src/config.ts'
import { observeNetwork } from '../../../apps/server/src/network.ts'
import { consoleHere, renderBanner, renderDataPlane } from '../banner.ts'
import { ROOT } from '../environment.ts'
import { prepareInstallation } from '../installation.ts'
import { assertPortsFree } from '../ports.ts'
import { stopStarter, untilServerThere } from './running.ts'
import { listActiveUnits, restartEdgeUnit, SERVER_UNIT, UNITS } from './systemd.ts'

/**
 * Prepares the installation, starts its units, now and at each boot, and prints where the console is.
 * @param values the settings, and the admin's password for the first start; by default one is generated and shown
 * @param write writes units and settings, without that password; called once nothing is in the way
 */
export async function startUnits(
  values: Readonly<Record<string, string>>,
  write: (kept: Readonly<Record<string, string>>) => void,
): Promise<void> {
  const { POSTERN_ADMIN_PASSWORD: given, ...kept } = values
  const isFirst = !existsSync(installationPaths(parseSettings(kept).POSTERN_DATA_DIR).database)
  const generated = isFirst && !given ? randomBytes(12).toString('base64url') : undefined
  const password = given ?? generated
  const installation = await prepareInstallation(
    password ? { ...kept, POSTERN_ADMIN_PASSWORD: password } : kept,
  )
  const { paths, settings } = installation
  await stopStarter(paths.starterPid)
  // Units that run hold the ports themselves.
  const isConsoleFree = (await listActiveUnits()).length > 0 || (await assertPortsFree(settings, true))
  write(kept)
  await must('systemctl', ['daemon-reload'], { timeoutMs: 30_000 })
  await must('systemctl', ['enable', ...UNITS], { timeoutMs: 30_000 })
  await must('systemctl', ['restart', SERVER_UNIT], { timeoutMs: 60_000 })
  await untilServerThere(paths.serverSocket)
  const config = readConfig(observeNetwork(), kept, ROOT)
  const username = settings.POSTERN_ADMIN_USERNAME
  process.stdout.write(
    renderBanner({
      version: config.version,
      publicUrl: publicUrl(config),
      here: { console: consoleHere(settings, isConsoleFree), dataDir: settings.POSTERN_DATA_DIR },
      generatedAdmin: generated ? { username, password: generated } : undefined,
    }),
  )
  process.stdout.write(renderDataPlane(await restartEdgeUnit()))
}
