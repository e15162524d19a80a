import type { SettingRecord } from '@postern/contract/settings/console-settings'
import { clsx } from 'clsx'
import { Lock, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { shownValue } from '../../forms/settings/sections.ts'

interface Props {
  term: ReactNode
  setting: SettingRecord
  /** In a column of its own. */
  action?: ReactNode
}

/** A setting in a list of them: its value, where that comes from, and why another one is not in force. */
export function SettingRow({ term, setting, action }: Props) {
  const { source, lockedBy, problem, isChangeable, name } = setting
  const isLocked = lockedBy !== null && (isChangeable || lockedBy !== name)
  const shown = shownValue(setting)
  const isEmpty = setting.isSecret || setting.value === null
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <span className="setting-value">
          <span className={clsx(shown === setting.value && 'mono', source === 'default' && 'by-default')}>
            {shown}
          </span>
          {!isEmpty && source === 'default' && <span className="by-default">Default</span>}
        </span>
        {isLocked && (
          <span className="setting-note">
            <Lock className="ic" />
            <span>
              Set by <code>{lockedBy}</code> in the environment
            </span>
          </span>
        )}
        {problem && (
          <span className="setting-note bad">
            <TriangleAlert className="ic" />
            <span>{problem}</span>
          </span>
        )}
      </dd>
      {action && <dd>{action}</dd>}
    </div>
  )
}
