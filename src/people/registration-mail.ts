/** The mails of registrations, in the language of the page. The link is of the public URL: the host of a request is anybody's choice. */
import type { Mail } from '../transport/send-mail.ts';

export type MailLanguage = 'en' | 'zh';
type Text = Pick<Mail, 'subject' | 'text'>;

export function confirmationMail(host: string, link: string, hours: number, language: MailLanguage): Text {
  if (language === 'zh')
    return {
      subject: `确认您在 ${host} 的注册`,
      text: `请在 ${hours} 小时内打开此链接，为 ${host} 设置密码：\n\n${link}\n\n如果您没有注册，请忽略此邮件。\n`,
    };
  return {
    subject: `Confirm your registration at ${host}`,
    text: `Open this link within ${hours} hours to choose a password for ${host}:\n\n${link}\n\nIf you did not register, ignore this mail.\n`,
  };
}

/** For an address that somebody has: only the owner of the mailbox gets to know it. */
export function knownMail(host: string, link: string, language: MailLanguage): Text {
  if (language === 'zh')
    return {
      subject: `您在 ${host} 的注册`,
      text: `此邮箱地址已在 ${host} 注册。请在此登录：\n\n${link}\n\n如果您没有注册，请忽略此邮件。\n`,
    };
  return {
    subject: `Your registration at ${host}`,
    text: `This address is registered at ${host} already. Sign in here:\n\n${link}\n\nIf you did not register, ignore this mail.\n`,
  };
}
