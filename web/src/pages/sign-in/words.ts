/** The words of these pages, in English and Chinese. */
import { dictionary } from '../../i18n/words.ts';

export const words = dictionary({
  title: ['Sign in', '登录'],
  to: ['to {host}', '到 {host}'],
  passkey: ['Use a passkey', '使用通行密钥'],
  oidc: ['Continue with {name}', '使用 {name} 登录'],
  or: ['or with a password', '或使用密码'],
  email: ['Email', '邮箱'],
  password: ['Password', '密码'],
  code: ['Code of your authenticator', '身份验证器代码'],
  codeHint: ['Six digits, or a recovery code.', '六位数字，或恢复代码。'],
  submit: ['Sign in', '登录'],
  locked: [
    'First start, or locked out? Run {command} on the server and open the link it prints.',
    '首次启动或无法登录？请在服务器上运行 {command}，然后打开它输出的链接。',
  ],
  foot: ['Apache 2.0 · no telemetry', 'Apache 2.0 · 无遥测'],
  language: ['Language', '语言'],
  theme: ['Theme', '主题'],
  example: ['Example of a receipt', '调用明细示例'],
  slogan: ['Every call has a receipt. Every receipt adds up.', '每次调用都有明细，每份明细都对得上账。'],
  cached: ['Cached input', '缓存输入'],
  input: ['Input', '输入'],
  write: ['Cache write', '缓存写入'],
  output: ['Output', '输出'],
  ok: ['OK', '成功'],
  linkFailed: ['The link was used already or has ended. Ask for another one.', '链接已使用或已过期，请重新获取。'],
  signingIn: ['Signing in', '正在登录'],
  unavailable: [
    'The sign-in provider does not answer. Try again in a moment, or sign in another way.',
    '登录服务暂时没有响应。请稍后重试，或使用其他方式登录。',
  ],
  notAllowed: ['You may not sign in here. Ask an administrator for access.', '您没有登录权限，请联系管理员。'],
  emailTaken: [
    'Somebody has your e-mail address here already. Sign in the way you did before, or ask an administrator.',
    '您的邮箱地址已被使用。请使用之前的方式登录，或联系管理员。',
  ],
  tooMany: [
    'Too many sign-ins from this address. Try again in some minutes.',
    '此地址的登录次数过多，请几分钟后再试。',
  ],
  lastOwner: [
    'Your role at the provider is lower, but you are the last owner. Make somebody else an owner first.',
    '您在登录服务中的角色已降低，但您是最后一位所有者。请先将其他人设为所有者。',
  ],
  failed: ['Sign-in failed. Check what you entered.', '登录失败，请检查输入。'],
});
