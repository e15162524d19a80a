import {
  type ConsoleSetting,
  findLock,
  findSettingFault,
  groupOf,
  isConsoleSetting,
} from '@postern/contract/settings/console-settings'
import { type GivenEnvironment, parseSettings, type Settings } from '@postern/contract/settings/settings'

/** What people set in the console, as they would set the variables. */
export type ChosenTexts = Partial<Record<ConsoleSetting, string>>

export interface Combined {
  settings: Settings
  /** Those of the chosen ones that are in force. */
  chosen: ChosenTexts
  /** Why others are not, in words. */
  problems: ReadonlyMap<ConsoleSetting, string>
}

/**
 * The settings in force: the environment's, then the console's, then the defaults. What a newer version's rules refuse
 * is left out, so that the server starts all the same.
 * @throws SettingsError on a bad environment
 */
export function combineSettings(environment: GivenEnvironment, wanted: ChosenTexts): Combined {
  const problems = new Map<ConsoleSetting, string>()
  const chosen: ChosenTexts = {}
  for (const [name, text] of Object.entries(wanted)) {
    if (!isConsoleSetting(name) || findLock(name, environment)) continue
    const fault = findSettingFault(name, text)
    if (fault === undefined) chosen[name] = text
    else problems.set(name, `The value that was set here ${fault}, so the default is in force.`)
  }
  for (const name of listHalves(chosen)) {
    delete chosen[name]
    problems.set(name, 'It belongs together with another value that is missing, so it is not in force.')
  }
  return { settings: parseSettings({ ...environment, ...chosen }), chosen, problems }
}

/** Those that are set while others of their group are not. */
function listHalves(chosen: ChosenTexts): ConsoleSetting[] {
  return Object.keys(chosen)
    .filter(isConsoleSetting)
    .filter((name) => groupOf(name).some((other) => chosen[other] === undefined))
}
