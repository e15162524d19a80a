import { lazy } from 'react'

/** Loaded when first opened. */
export const ChannelDialog = lazy(async () => ({
  default: (await import('../../forms/alerts/ChannelDialog.tsx')).ChannelDialog,
}))
export const BuiltInRuleDialog = lazy(async () => ({
  default: (await import('../../forms/alerts/BuiltInRuleDialog.tsx')).BuiltInRuleDialog,
}))
export const FigureRuleDialog = lazy(async () => ({
  default: (await import('../../forms/alerts/FigureRuleDialog.tsx')).FigureRuleDialog,
}))
export const QuietHoursDialog = lazy(async () => ({
  default: (await import('../../forms/alerts/QuietHoursDialog.tsx')).QuietHoursDialog,
}))
